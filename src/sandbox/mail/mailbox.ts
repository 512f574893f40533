/** The messages that the mail catcher keeps: the newest thousand, each also in an `.eml` file where there is a directory for them. */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';

const messagesKept = 1000;

export interface Message {
  /** Sorts by arrival. */
  id: string;
  receivedAt: Date;
  email: Email;
  read: boolean;
  /** As it was received. */
  raw: Buffer;
}

export class Mailbox {
  /** Oldest first. */
  readonly #messages = new Map<string, Message>();
  #arrivals = 0;

  private constructor(private readonly directory?: string) {}

  /** A mailbox with the messages that lie in the directory already. */
  static async open(directory?: string): Promise<Mailbox> {
    const mailbox = new Mailbox(directory);
    if (directory === undefined) return mailbox;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const names = readdirSync(directory).filter((name) => /^[0-9a-z]+\.eml$/.test(name));
    for (const name of names.sort()) await mailbox.#add(name.slice(0, -'.eml'.length), readFileSync(join(directory, name)));
    return mailbox;
  }

  /** Keeps a message; when it returns, the message is in its file. */
  async keep(raw: Buffer): Promise<Message> {
    // Nine digits of base 36 hold milliseconds until the year 5188.
    const count = (this.#arrivals++ % 36 ** 4).toString(36).padStart(4, '0');
    const id = Date.now().toString(36).padStart(9, '0') + count;
    if (this.directory !== undefined) {
      const file = join(this.directory, `${id}.eml`);
      writeFileSync(`${file}.new`, raw, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    }
    return this.#add(id, raw);
  }

  /** Newest first. */
  list(): Message[] {
    return [...this.#messages.values()].reverse();
  }

  /** @param id of a message, or `latest` */
  get(id: string): Message | undefined {
    return id === 'latest' ? this.list()[0] : this.#messages.get(id);
  }

  empty(): void {
    for (const id of this.#messages.keys()) this.remove(id);
  }

  remove(id: string): void {
    if (this.#messages.delete(id) && this.directory !== undefined) rmSync(join(this.directory, `${id}.eml`), { force: true });
  }

  async #add(id: string, raw: Buffer): Promise<Message> {
    const email = await PostalMime.parse(raw).catch(
      (): Email => ({ headers: [], headerLines: [], attachments: [], subject: '(cannot be read)' }),
    );
    const message = { id, receivedAt: new Date(Number.parseInt(id.slice(0, 9), 36)), email, read: false, raw };
    this.#messages.set(id, message);
    const [oldest] = this.#messages.keys();
    if (oldest !== undefined && this.#messages.size > messagesKept) this.remove(oldest);
    return message;
  }
}
