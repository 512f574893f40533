/** CSV (RFC 4180) for spreadsheets. */

/** The mark tells Excel that the text is UTF-8. */
export const csvStart = '\uFEFF';
export const csvLine = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`;

/** A spreadsheet runs a text as a formula if the text begins with one of these characters, normal or full-width. */
const formula = /^[=+\-@\t\r＝＋－＠]/;

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const isList = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  const text = typeof value === 'string' ? value : isList ? value.join('; ') : JSON.stringify(value);
  const harmless = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
