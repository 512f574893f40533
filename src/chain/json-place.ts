/** Says where a text stops being JSON. */

/** Takes only the place or the character from the parser's error. The rest of the error may contain an access token. */
export function jsonPlace(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : '';
  if (text.trim() === '') return ': it is empty';
  if (message.startsWith('Unexpected end')) return ': it ends too early';
  const [, unexpected] = /^Unexpected token '(.)'/su.exec(message) ?? [];
  if (unexpected !== undefined) return `: ${JSON.stringify(unexpected)} is not expected at this place`;
  const position = / at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return '';
  const { line, column } = placeIn(text, Number(position));
  return ` at line ${line}, column ${column}`;
}

/** Lines and columns count from 1. */
export function placeIn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
