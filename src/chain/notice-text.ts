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
  /** A command to type and `Some title: https://…` are shown as such. */
  lines: string[];
}

/** Lays a notice out; sections without lines are left out. */
export function noticeText(subject: string, sections: readonly Section[], json: unknown): NoticeText {
  const filled = sections.filter(({ lines }) => lines.length > 0);
  return { subject, text: asText(filled), html: asHtml(subject, filled), json };
}

function asText(sections: readonly Section[]): string {
  return `${sections.map(({ title, lines }) => [...(title ? [`${title}:`] : []), ...lines.map((line) => (title ? `  ${line}` : line))].join('\n')).join('\n\n')}\n`;
}

function asHtml(subject: string, sections: readonly Section[]): string {
  const body = sections.map(({ title, lines }) => {
    const items = lines.map((line) => `<div style="margin:2px 0">${linked(line)}</div>`).join('');
    return title
      ? `<h3 style="margin:16px 0 4px;font-size:15px">${escapeHtml(title)}</h3>${items}`
      : `<div style="font-size:17px">${items}</div>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head><body style="font-family:sans-serif;font-size:14px;line-height:1.4;max-width:640px;overflow-wrap:anywhere">${body.join('')}</body></html>`;
}

function linked(line: string): string {
  if (/^(npx relay|temporal) /.test(line))
    return `<code style="display:block;background:#f2f2f2;padding:6px 8px">${escapeHtml(line)}</code>`;
  const link =
    /^(Chain resource[^:]*|Temporal Web UI|Rejected request|All of them[^:]*|Chain[^:]*|Assignment [^:]*): (https?:\S+)$/.exec(
      line,
    );
  return link ? `${link[1]}: <a href="${escapeHtml(link[2] ?? '')}">${escapeHtml(link[2] ?? '')}</a>` : escapeHtml(line);
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
