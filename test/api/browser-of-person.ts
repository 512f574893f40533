/** A browser without scripts: keeps cookies, follows no redirect, and sends forms as a page of the relay does. */

export class PlainBrowser {
  readonly cookies = new Map<string, string>();

  constructor(private readonly api: string) {}

  async ask(method: string, path: string, form?: Record<string, string>, more: Record<string, string> = {}): Promise<Response> {
    const response = await fetch(new URL(path, this.api), {
      method,
      redirect: 'manual',
      headers: {
        Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(method !== 'GET' && { 'Sec-Fetch-Site': 'same-origin' }),
        ...more,
      },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(cookie) ?? [];
      if (/Max-Age=0/.test(rest)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  get = (path: string) => this.ask('GET', path);
  post = (path: string, form: Record<string, string> = {}) => this.ask('POST', path, form);

  /** Returns who is signed in; undefined if nobody is. */
  async session(): Promise<Record<string, string> | undefined> {
    const response = await this.get('/session');
    return response.ok ? ((await response.json()) as Record<string, string>) : undefined;
  }
}
