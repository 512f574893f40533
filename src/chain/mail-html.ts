/** Makes the HTML of a mail from its text. Keeps references such as `${name}`, because the relay escapes their values later. */

import { type Fields, fieldText } from './fields.js';

const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function mailHtml(text: string): string {
  const paragraphs = text.replaceAll('\r\n', '\n').split(/\n{2,}/);
  const escaped = (paragraph: string) =>
    paragraph.replaceAll(/[&<>"]/g, (sign) => signs[sign] ?? sign).replaceAll('\n', '<br>\n');
  return paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`).join('\n');
}

/** Whether `mailHtml` made the HTML of the e-mail from its text. */
export const isMadeHtml = ({ body, bodyHtml }: Fields) => bodyHtml !== undefined && bodyHtml === mailHtml(fieldText(body));
