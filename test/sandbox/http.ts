/** Requests to the sandbox's servers, for tests of a few values in the answers. */

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The value at a path in the JSON answer, such as `messages.0.Subject`. The path '' means the whole answer. */
  at(place: string): unknown;
  /** These fields of every element of the JSON list at a path. */
  table(place: string, ...fields: string[]): unknown[][];
}

export async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const response = await fetch(url + path, { method, headers: { 'content-type': 'application/json', ...headers }, ...content });
  const text = await response.text();
  const at = (place: string) =>
    place
      .split('.')
      .filter(Boolean)
      .reduce(inside, JSON.parse(text) as unknown);
  return {
    status: response.status,
    headers: response.headers,
    text,
    at,
    table: (place, ...fields) => {
      const list = at(place);
      return Array.isArray(list) ? list.map((element) => fields.map((field) => inside(element, field))) : [];
    },
  };
}

function inside(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
