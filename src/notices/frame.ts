/** The frame of every notice: its subject, its paragraphs, links and sections as plain text and as HTML, and its JSON. */

import { html, raw } from 'hono/html';
import type { Links } from '../chain/chain.js';
import { cutShort, oneLine } from '../chain/text.js';
import type { HoldRef } from '../contract/hold-link.js';
import type { DigestNotice, Notice } from '../contract/notices.js';

/** The facts that the text of a notice needs in addition to the notice. */
export interface NoticeContext {
  companyName: string;
  ruleName: string;
  timeZone: string; // the time zone of the company
  links: Links;
  /** The Temporal namespace, for commands of the Temporal CLI. */
  namespace: string;
  /** Whether the reader is an operator. Only operators get commands, and links into the API and Temporal. */
  forOperator?: boolean;
  /** Whether the page of a hold lets the reader correct ids and values. */
  edits?: boolean | undefined;
  /** The page where a contact confirms that it wants notices. Undefined if the contact has confirmed. */
  confirmLink?: string;
  /** Returns the address of the page where a reader without a key decides about a hold. Undefined if there is no page. */
  holdLink?(held: Pick<HoldRef, 'companyId' | 'chainId' | 'index' | 'at'> & { heldUntil?: string }): string | undefined;
}

/** The parts that differ between notices. A notice shows them in this order. */
export interface Words {
  /** The beginning of the subject. */
  headline: string;
  /** The text in parentheses after the headline. Default: the name of the rule. */
  about?: string;
  title: string; // what happened, in one line
  place: string[]; // the action and the time; `framed` adds the rule and the company
  wrong: string[];
  toDo?: string[];
  /** Large links. The first link is the most helpful. */
  links?: Link[];
  hint?: string; // what the links open
  /** The lines of each section, by title. Empty sections are not shown. */
  sections?: Record<string, Line[]>;
  ids?: string; // ids that a reader quotes in questions to the operator
  operator?: Line[]; // commands and links that only operators see
  /** The `type` in the JSON. Default: the kind of the notice. */
  type?: string;
  /** Further fields of the JSON. Default: the fields of the notice. */
  facts?: object;
}

export type Link = { label: string; url: string };
/** A line is a text, or a link such as `Temporal Web UI: https://…`. */
export type Line = string | Link;
type Section = [title: string, lines: Line[]];
type Shown = Required<Pick<Words, 'title' | 'place' | 'wrong' | 'toDo' | 'links' | 'ids'>> & Pick<Words, 'hint'>;

export type RenderedNotice = ReturnType<typeof framed>;

export function framed(words: Words, notice: Notice | DigestNotice, context: NoticeContext) {
  const { companyName, ruleName, confirmLink } = context;
  const { headline, about = ruleName, toDo = [], links = [], operator = [], type = notice.kind, facts = notice } = words;
  const { companyId, at } = notice;
  const subject = cutShort(oneLine(`[relay] ${headline}${about && ` (${about})`}`), 180);
  const ofRule = 'cause' in notice || notice.kind === 'digest' ? undefined : notice.relayId;
  const rule = ofRule === undefined ? undefined : { relayId: ofRule, name: ruleName };
  const company = { companyId, name: companyName };
  const shown = {
    title: oneLine(words.title),
    place: [...words.place, rule ? `Rule ${ruleName}, ${companyName}` : companyName].map(oneLine),
    wrong: words.wrong.map(oneLine),
    toDo: toDo.map(oneLine),
    links,
    hint: words.hint,
    ids: oneLine([words.ids, rule && `rule ${rule.relayId}`, `company ${companyId}`].filter(Boolean).join(', ')),
  };
  const sections = Object.entries<Line[]>({
    ...words.sections,
    [confirmation]: confirmLink === undefined ? [] : [confirming, { label: 'Confirm in a browser', url: confirmLink }],
    [forOperators]: context.forOperator ? operator : [],
  }).flatMap(([title, lines]): Section[] => (lines.length > 0 ? [[title, lines.map(asOneLine)]] : []));
  return {
    subject,
    text: asText(shown, sections),
    html: asHtml(subject, shown, sections),
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

export const forOperators = 'For operators';
const confirmation = 'Confirm that you want these notices';
const confirming =
  'Until you confirm, you get only the first notice of each problem, at most ten a day. If these notices are not for you, do not confirm.';

/** Removes line breaks, so that a text from a sender or an outside system does not look like a line or section of the notice. */
const asOneLine = (line: Line): Line => (typeof line === 'string' ? oneLine(line) : { ...line, label: oneLine(line.label) });

function asText({ title, place, wrong, toDo, links, hint, ids }: Shown, sections: readonly Section[]): string {
  const titled = sections.map(([title, lines]) => [`${title}:`, ...lines.map((line) => `  ${lineText(line)}`)]);
  const paragraphs = [[title], place, [...wrong, ...toDo], links.map(lineText), hint ? [hint] : [], ...titled, [ids]];
  return `${paragraphs.flatMap((lines) => (lines.length > 0 ? lines.join('\n') : [])).join('\n\n')}\n`;
}

export const lineText = (line: Line) => (typeof line === 'string' ? line : `${line.label}: ${line.url}`);

/** Mail programs that ignore this style show the light colours of the `style` attributes. */
const darkStyle = `:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){
body{background:#14171a!important;color:#e7ebef!important}.soft{color:#9aa5b1!important}code{background:#262b31!important}
.link,.other{color:#6cb0ff!important}.other{border-color:#4a5460!important}.first{background:#6cb0ff!important;color:#10151a!important}
}`;

function asHtml(subject: string, { title, place, wrong, toDo, links, hint, ids }: Shown, sections: readonly Section[]): string {
  const soft = 'margin:0 0 16px;font-size:14px;color:#5d6875';
  const paragraph = (line: string) => html`<p style="margin:0 0 8px">${line}</p>`;
  const titled = sections.map(([title, lines]) => {
    const items = lines.map((line) => html`<div style="margin:4px 0">${lineHtml(line)}</div>`);
    return html`<h2 style="margin:24px 0 4px;font-size:16px">${title}</h2>${items}`;
  });
  const head = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${subject}</title><style>${raw(darkStyle)}</style>`;
  const font = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,sans-serif;font-size:16px;line-height:1.5';
  const body = html`<div style="max-width:560px;margin:0 auto;overflow-wrap:anywhere">
<h1 style="margin:0 0 8px;font-size:22px;line-height:1.25">${title}</h1>
<p class="soft" style="${soft}">${place.map((line, number) => html`${number > 0 ? html`<br>` : ''}${line}`)}</p>
${wrong.map(paragraph)}${toDo.map(paragraph)}${links.map(largeLink)}
${hint && html`<p class="soft" style="${soft}">${hint}</p>`}${titled}
<p class="soft" style="${soft};margin-top:24px">${ids}</p></div>`;
  return String(html`<!doctype html><html lang="en"><head>${head}</head>
<body style="margin:0;padding:20px 16px;background:#ffffff;color:#17202a;${font}">${body}</body></html>`);
}

function largeLink({ label, url }: Link, number: number) {
  const [name, colours] = number === 0 ? ['first', 'background:#0b63c5;color:#ffffff;'] : ['other', 'color:#0b63c5;'];
  const shape = `display:block;margin:12px 0;padding:12px 16px;border:1px solid ${number === 0 ? 'transparent' : '#b9c2cc'};border-radius:8px`;
  const style = `${shape};${colours}font-size:18px;font-weight:600;text-align:center;text-decoration:none`;
  return isWebAddress(url) ? html`<a class="${name}" href="${url}" style="${style}">${label}</a>` : html`<p>${label}: ${url}</p>`;
}

function lineHtml(line: Line) {
  const code = 'display:block;background:#f2f2f2;padding:6px 8px;font-size:13px';
  if (typeof line === 'string') return isCommand(line) ? html`<code style="${code}">${line}</code>` : line;
  const { label, url } = line;
  return isWebAddress(url) ? html`<a class="link" href="${url}" style="color:#0b63c5">${label}</a>` : html`${label}: ${url}`;
}

const isWebAddress = (url: string) => /^https?:\S+$/.test(url);

/** Writes a `relay` command. Adds `--url` if the API is not at the command's default address. */
export const relay = (words: string, { links }: NoticeContext) =>
  `npx relay ${words}${links.api === 'http://127.0.0.1:8080' ? '' : ` --url ${links.api}`}`;

export const isCommand = (line: string) => /^(npx relay|temporal) /.test(line);
