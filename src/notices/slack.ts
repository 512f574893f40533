/** A notice as Slack's incoming webhooks take it: at most 50 blocks, of which a section has at most 3,000 characters. */

import { cutShort } from '../chain/text.js';
import type { RenderedNotice } from './render.js';
import { isCommand } from './words.js';

const headerLength = 150;
const sectionLength = 3000;
const mostBlocks = 50;
/** Escaping makes of one character up to five. */
const pieceLength = 500;

/**
 * One section for each paragraph of the notice's text, whose first line is a title where the others are indented. The `text`
 * outside the blocks is what notifications show.
 */
export function slackMessage({ subject, text }: Pick<RenderedNotice, 'subject' | 'text'>) {
  const sections = text.trim().split('\n\n').flatMap(sectionsOf);
  const room = mostBlocks - 2; // For the header, and to say that something is missing.
  const shown = sections.length > room ? [...sections.slice(0, room), '…'] : sections;
  return {
    text: escaped(cutShort(subject, pieceLength)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cutShort(subject, headerLength) } },
      ...shown.map((section) => ({ type: 'section', text: { type: 'mrkdwn', text: section } })),
    ],
  };
}

/** As many sections as the paragraph needs. */
function sectionsOf(paragraph: string): string[] {
  const sections: string[] = [];
  for (const line of paragraph.split('\n').flatMap(linesOf)) {
    const longer = `${sections.at(-1) ?? ''}\n${line}`;
    if (sections.length > 0 && longer.length <= sectionLength) sections[sections.length - 1] = longer;
    else sections.push(line);
  }
  return sections;
}

function linesOf(line: string): string[] {
  const words = line.trim();
  const pieces = words.match(new RegExp(`.{1,${pieceLength}}`, 'gsu')) ?? [];
  if (pieces.length === 1 && isCommand(words) && !words.includes('`')) return [`\`${escaped(words)}\``];
  if (pieces.length === 1 && line === words && words.endsWith(':')) return [`*${escaped(words)}*`];
  return pieces.map(escaped);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
