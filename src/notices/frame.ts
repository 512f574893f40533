/** The frame of every notice: its subject, its titled sections as plain text and as HTML, and its JSON. */

import { html } from 'hono/html';
import { type ChainRef, chainPage, chainUrl, type Links } from '../chain/chain.js';
import { cutShort, oneLine } from '../chain/text.js';
import type { HoldRef } from '../contract/hold-link.js';
import type { DigestNotice, Notice } from '../contract/notices.js';

/** What the text of a notice needs in addition to the notice itself. */
export interface NoticeContext {
  companyName: string;
  ruleName: string;
  timeZone: string; // the time zone of the company
  links: Links;
  /** The Temporal namespace, for commands of the Temporal CLI. */
  namespace: string;
  /** The page where a contact confirms that it wants notices. Undefined if the contact has confirmed. */
  confirmLink?: string;
  /** Returns the address of the page where a reader without a key decides about a hold. Undefined if there is no page. */
  holdLink?(held: Pick<HoldRef, 'companyId' | 'chainId' | 'index' | 'at'> & { heldUntil?: string }): string | undefined;
}

/** The parts that differ between notices. */
export interface Words {
  headline: string;
  /** The text in parentheses after the headline. Default: the name of the rule. */
  about?: string;
  sentence: string;
  /** The lines of each section, by title. Empty sections are not shown. `framed` adds the company and the rule to `Where`. */
  sections: { Where: Line[]; [title: string]: Line[] };
  /** The `type` in the JSON. Default: the kind of the notice. */
  type?: string;
  /** Further fields of the JSON. Default: the fields of the notice. */
  facts?: object;
}

/** A line is a text, or a link such as `Temporal Web UI: https://…`. */
export type Line = string | { label: string; url: string };
type Section = [title: string, lines: Line[]];

export type RenderedNotice = ReturnType<typeof framed>;

export function framed(words: Words, notice: Notice | DigestNotice, { companyName, ruleName, confirmLink }: NoticeContext) {
  const { headline, about = ruleName, sentence, sections, type = notice.kind, facts = notice } = words;
  const { companyId, at } = notice;
  const subject = cutShort(oneLine(`[relay] ${headline}${about && ` (${about})`}`), 180);
  const ofRule = 'cause' in notice || notice.kind === 'digest' ? undefined : notice.relayId;
  const rule = ofRule === undefined ? undefined : { relayId: ofRule, name: ruleName };
  const company = { companyId, name: companyName };
  const concerned = [`Company: ${companyName} (${companyId})`, ...(rule ? [`Rule: ${ruleName} (${rule.relayId})`] : [])];
  const all = Object.entries<Line[]>({
    ...sections,
    Where: [...concerned, ...sections.Where],
    [confirmation]: confirmLink === undefined ? [] : [confirming, { label: 'Confirm in a browser', url: confirmLink }],
  });
  const shown = all.flatMap(([title, lines]): Section[] => (lines.length > 0 ? [[title, lines.map(asOneLine)]] : []));
  const first = oneLine(sentence);
  return {
    subject,
    text: asText(first, shown),
    html: asHtml(subject, first, shown),
    /** The body of the request to a webhook. */
    json: {
      type: `relay.${type}`,
      text: subject,
      at,
      company,
      rule,
      ...facts,
      ...(confirmLink !== undefined && { confirm: confirmLink }),
    } as unknown,
  };
}

const confirmation = 'Confirm that you want these notices';
const confirming =
  'Until you confirm, you get only the first notice of each cause, at most ten a day. If these notices are not for you, do nothing.';

/** Removes line breaks: a text from a sender or an outside system must not look like a line or a section of the notice. */
function asOneLine(line: Line): Line {
  return typeof line === 'string' ? oneLine(line) : { ...line, label: oneLine(line.label) };
}

function asText(sentence: string, sections: readonly Section[]): string {
  const paragraphs = sections.map(([title, lines]) => {
    const texts = lines.map((line) => `  ${lineText(line)}`);
    return [`${title}:`, ...texts].join('\n');
  });
  return `${[sentence, ...paragraphs].join('\n\n')}\n`;
}

export function lineText(line: Line): string {
  return typeof line === 'string' ? line : `${line.label}: ${line.url}`;
}

function asHtml(subject: string, sentence: string, sections: readonly Section[]): string {
  const body = sections.map(([title, lines]) => {
    const items = lines.map((line) => html`<div style="margin:2px 0">${lineHtml(line)}</div>`);
    return html`<h3 style="margin:16px 0 4px;font-size:15px">${title}</h3>${items}`;
  });
  const style = 'font-family:sans-serif;font-size:14px;line-height:1.4;max-width:640px;overflow-wrap:anywhere';
  const meta = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title>`;
  const first = html`<div style="font-size:17px">${sentence}</div>`;
  return String(html`<!doctype html><html lang="en"><head>${meta}</head><body style="${style}">${first}${body}</body></html>`);
}

function lineHtml(line: Line) {
  if (typeof line === 'string')
    return isCommand(line) ? html`<code style="display:block;background:#f2f2f2;padding:6px 8px">${line}</code>` : line;
  const { label, url } = line;
  return /^https?:\S+$/.test(url) ? html`<a href="${url}">${label}</a>` : html`${label}: ${url}`;
}

export function chainPlaces({ api }: Links, chain: ChainRef): Line[] {
  return [
    { label: 'The page of the chain (needs a key)', url: chainPage(api, chain) },
    { label: 'The chain in the API (needs a token)', url: chainUrl(api, chain) },
  ];
}

/** Writes a `relay` command. Adds `--url` unless the API is at the default address of the command. */
export function relay(words: string, { links }: NoticeContext): string {
  return `npx relay ${words}${links.api === 'http://127.0.0.1:8080' ? '' : ` --url ${links.api}`}`;
}

export function isCommand(line: string): boolean {
  return /^(npx relay|temporal) /.test(line);
}
