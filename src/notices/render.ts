/** The frame of every notice: its subject, its titled sections as plain text and as HTML, and its JSON. */

import { html } from 'hono/html';
import { cutShort, oneLine } from '../chain/text.js';
import { shownTime } from '../chain/web-ui.js';
import type { Notice, TestNotice } from '../contract/notices.js';
import { chainWords, manyWords, throughWords } from './chain-words.js';
import type { RenderedNotice } from './channels/channel.js';
import { ruleWords } from './rule-words.js';
import { isCommand, type Link, type NoticeContext, type Section, type Words } from './words.js';

/** @throws RangeError where a notice about a chain names an action that the chain does not have. */
export function renderNotice(notice: Notice, context: NoticeContext): RenderedNotice {
  const { companyName, ruleName } = context;
  const { companyId } = notice;
  const words = wordsOf(notice, context);
  const { relayId, about, end = [], where = [], links = [] } = words;
  const subject = cutShort(oneLine(`[relay] ${words.headline}${about === undefined ? '' : ` (${about})`}`), 180);
  const lines = [
    `Company: ${oneLine(companyName)} (${companyId})`,
    ...(relayId === undefined ? [] : [`Rule: ${oneLine(ruleName)} (${relayId})`]),
    ...where,
    `${words.when ?? 'Happened'}: ${shownTime(notice.at)}${words.after ?? ''}`,
    ...links,
  ];
  const all: Section[] = [{ lines: [words.sentence] }, ...words.sections, { title: 'Where', lines }, ...end];
  const sections = all.filter(({ lines }) => lines.length > 0);
  const json = {
    type: `relay.${words.type ?? notice.kind}`,
    text: subject,
    at: notice.at,
    company: { companyId, name: companyName },
    rule: relayId === undefined ? undefined : { relayId, name: ruleName },
    ...words.facts,
  };
  return { subject, text: asText(sections), html: asHtml(subject, sections), json };
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
      return testWords(notice, context);
    default:
      return chainWords(notice, context);
  }
}

function testWords({ relayId }: TestNotice, { companyName }: NoticeContext): Words {
  return {
    headline: `Test: notices of ${companyName} arrive here`,
    relayId,
    sentence: 'This is a test. Nothing is wrong, and nothing has to be done.',
    sections: [],
    when: 'Asked for',
    facts: {},
  };
}

function asText(sections: readonly Section[]): string {
  const paragraphs = sections.map(({ title, lines }) => {
    const texts = lines.map((line) => (typeof line === 'string' ? line : `${line.label}: ${line.url}`));
    return [...(title ? [`${title}:`] : []), ...texts.map((text) => (title ? `  ${text}` : text))].join('\n');
  });
  return `${paragraphs.join('\n\n')}\n`;
}

/** `html` escapes every text that it is given. */
function asHtml(subject: string, sections: readonly Section[]): string {
  const body = sections.map(({ title, lines }) => {
    const items = lines.map((line) => html`<div style="margin:2px 0">${lineHtml(line)}</div>`);
    return title
      ? html`<h3 style="margin:16px 0 4px;font-size:15px">${title}</h3>${items}`
      : html`<div style="font-size:17px">${items}</div>`;
  });
  const style = 'font-family:sans-serif;font-size:14px;line-height:1.4;max-width:640px;overflow-wrap:anywhere';
  const meta = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title>`;
  return String(html`<!doctype html><html lang="en"><head>${meta}</head><body style="${style}">${body}</body></html>`);
}

function lineHtml(line: string | Link) {
  if (typeof line === 'string')
    return isCommand(line) ? html`<code style="display:block;background:#f2f2f2;padding:6px 8px">${line}</code>` : line;
  const { label, url } = line;
  return html`${label}: ${/^https?:\S+$/.test(url) ? html`<a href="${url}">${url}</a>` : url}`;
}
