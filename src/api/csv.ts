/** CSV (RFC 4180) for spreadsheets. */

/** The mark tells Excel that the text is UTF-8. */
export const csvStart = '\uFEFF';
export const csvLine = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`;

/** A spreadsheet runs a text as a formula if the text begins with one of these characters, normal or full-width. */
const formula = /^[=+\-@\t\r＝＋－＠]/;

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const textOf = (inner: unknown) => (typeof inner === 'string' ? inner : JSON.stringify(inner));
  const parts = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([name, inner]) => (Array.isArray(value) ? textOf(inner) : `${name}: ${textOf(inner)}`));
  const text = typeof value === 'string' ? value : parts.join('; ');
  const harmless = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
