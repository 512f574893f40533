/** The frame of every notice: its subject, its titled sections as plain text and as HTML, and its JSON. */

import { html } from 'hono/html';
import { cutShort, oneLine } from '../chain/text.js';
import { shownTime } from '../chain/web-ui.js';
import type { Notice } from '../contract/notices.js';
import { chainWords, manyWords, throughWords } from './chain-words.js';
import { ruleWords } from './rule-words.js';
import { concerned, isCommand, type Link, type NoticeContext, type Words } from './words.js';

/** A notice in every form that a channel may need. */
export interface RenderedNotice {
  subject: string;
  text: string;
  html: string;
  /** What a webhook gets. */
  json: unknown;
}

/** @throws RangeError where a notice about a chain names an action that the chain does not have. */
export function renderNotice(notice: Notice, context: NoticeContext): RenderedNotice {
  const { companyId, at } = notice;
  const { headline, about, sentence, sections, type = notice.kind, facts } = wordsOf(notice, context);
  const subject = cutShort(oneLine(`[relay] ${headline}${about === undefined ? '' : ` (${about})`}`), 180);
  const shown = Object.entries(sections).filter(([, lines]) => lines.length > 0);
  const relayId = 'cause' in notice ? undefined : notice.relayId;
  const json = {
    type: `relay.${type}`,
    text: subject,
    at,
    company: { companyId, name: context.companyName },
    rule: relayId === undefined ? undefined : { relayId, name: context.ruleName },
    ...facts,
  };
  return { subject, text: asText(sentence, shown), html: asHtml(subject, sentence, shown), json };
}

function wordsOf(notice: Notice, context: NoticeContext): Words {
  switch (notice.kind) {
    case 'many':
      return manyWords(notice, context);
    case 'through':
      return throughWords(notice, context);
    case 'rejected':
    case 'missing-property':
    case 'paused':
      return ruleWords(notice, context);
    case 'test':
      return {
        headline: `Test: notices of ${context.companyName} arrive here`,
        sentence: 'This is a test. Nothing is wrong, and nothing has to be done.',
        sections: { Where: [...concerned(notice, context), `Asked for: ${shownTime(notice.at)}`] },
        facts: {},
      };
    default:
      return chainWords(notice, context);
  }
}

type Section = [title: string, lines: (string | Link)[]];

function asText(sentence: string, sections: readonly Section[]): string {
  const paragraphs = sections.map(([title, lines]) => {
    const texts = lines.map((line) => (typeof line === 'string' ? line : `${line.label}: ${line.url}`));
    return [`${title}:`, ...texts.map((text) => `  ${text}`)].join('\n');
  });
  return `${[sentence, ...paragraphs].join('\n\n')}\n`;
}

/** `html` escapes every text that it is given. */
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

function lineHtml(line: string | Link) {
  if (typeof line === 'string')
    return isCommand(line) ? html`<code style="display:block;background:#f2f2f2;padding:6px 8px">${line}</code>` : line;
  const { label, url } = line;
  return html`${label}: ${/^https?:\S+$/.test(url) ? html`<a href="${url}">${url}</a>` : url}`;
}
