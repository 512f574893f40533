/** How notices are laid out: titled sections, as plain text and as HTML. */

/** A notice in the forms that a channel may need. */
export interface NoticeText {
  subject: string;
  text: string;
  html: string;
  json: unknown;
}

export interface Section {
  title?: string;
  /** A command to type is shown as such. */
  lines: (string | Link)[];
}

/** `Temporal Web UI: https://…`, which can be followed. */
export interface Link {
  label: string;
  url: string;
}

/** Lays a notice out; sections without lines are left out. */
export function noticeText(subject: string, sections: readonly Section[], json: unknown): NoticeText {
  const filled = sections.filter(({ lines }) => lines.length > 0);
  return { subject, text: asText(filled), html: asHtml(subject, filled), json };
}

function asText(sections: readonly Section[]): string {
  const paragraphs = sections.map(({ title, lines }) => {
    const texts = lines.map((line) => (typeof line === 'string' ? line : `${line.label}: ${line.url}`));
    return [...(title ? [`${title}:`] : []), ...texts.map((text) => (title ? `  ${text}` : text))].join('\n');
  });
  return `${paragraphs.join('\n\n')}\n`;
}

function asHtml(subject: string, sections: readonly Section[]): string {
  const body = sections.map(({ title, lines }) => {
    const items = lines.map((line) => `<div style="margin:2px 0">${lineHtml(line)}</div>`).join('');
    return title
      ? `<h3 style="margin:16px 0 4px;font-size:15px">${escapeHtml(title)}</h3>${items}`
      : `<div style="font-size:17px">${items}</div>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head><body style="font-family:sans-serif;font-size:14px;line-height:1.4;max-width:640px;overflow-wrap:anywhere">${body.join('')}</body></html>`;
}

function lineHtml(line: string | Link): string {
  if (typeof line !== 'string') {
    const [label, url] = [escapeHtml(line.label), escapeHtml(line.url)];
    return /^https?:\S+$/.test(line.url) ? `${label}: <a href="${url}">${url}</a>` : `${label}: ${url}`;
  }
  const text = escapeHtml(line);
  return isCommand(line) ? `<code style="display:block;background:#f2f2f2;padding:6px 8px">${text}</code>` : text;
}

/** Whether a line is to be typed into a terminal. */
export function isCommand(line: string): boolean {
  return /^(npx relay|temporal) /.test(line);
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
