/** The newest 1000 messages of the mail catcher. With a directory, each message is also an `.eml` file. */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { found } from '../page.js';

/** If messages are sorted by `id`, they are in order of arrival. */
export type Message = { id: string; receivedAt: string; email: Email; raw: Buffer };
const messagesKept = 1000;
const unreadable: Email = { headers: [], headerLines: [], attachments: [], subject: '(unreadable message)' };

export class Mailbox {
  /** The messages, the oldest first. The map's key is the message id. */
  readonly #messages = new Map<string, Message>();
  #latest = 0;

  private constructor(private readonly directory?: string) {}

  static async open(directory?: string): Promise<Mailbox> {
    const mailbox = new Mailbox(directory);
    if (directory === undefined) return mailbox;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const names = readdirSync(directory).filter((name) => /^[0-9a-z]+\.eml$/.test(name));
    for (const name of names.sort()) await mailbox.#add(name.slice(0, -'.eml'.length), readFileSync(join(directory, name)));
    return mailbox;
  }

  /** Keeps a message. Returns the id of the message after its file is written. */
  async keep(raw: Buffer): Promise<string> {
    this.#latest = Math.max(Date.now(), this.#latest + 1);
    // Nine digits of base 36 hold milliseconds until the year 5188.
    const id = this.#latest.toString(36).padStart(9, '0');
    if (this.directory !== undefined) {
      const file = join(this.directory, `${id}.eml`);
      writeFileSync(`${file}.new`, raw, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    }
    await this.#add(id, raw);
    return id;
  }

  /** All messages, the newest first. */
  list(): Message[] {
    return [...this.#messages.values()].reverse();
  }

  get(id: string): Message {
    return found(this.#messages.get(id), `message ${id}`);
  }

  empty(): void {
    for (const id of this.#messages.keys()) this.#remove(id);
  }

  #remove(id: string): void {
    this.#messages.delete(id);
    if (this.directory !== undefined) rmSync(join(this.directory, `${id}.eml`), { force: true });
  }

  async #add(id: string, raw: Buffer): Promise<void> {
    const email = await PostalMime.parse(raw).catch(() => unreadable);
    const receivedAt = new Date(Number.parseInt(id.slice(0, 9), 36)).toISOString();
    this.#messages.set(id, { id, receivedAt, email, raw });
    const [oldest] = this.#messages.keys();
    if (oldest !== undefined && this.#messages.size > messagesKept) this.#remove(oldest);
  }
}
