/** The messages that the mail catcher keeps: the newest thousand, each a raw `.eml` file where there is a directory for them. */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime, { type Address, type Email, type Mailbox as Mailboxes } from 'postal-mime';
import { makeDirectory } from '../make-directory.js';

const messagesKept = 1000;

export interface Message {
  /** Sorts by arrival. */
  id: string;
  receivedAt: Date;
  email: Email;
  read: boolean;
  /** As it was received. */
  raw(): Buffer;
}

export class Mailbox {
  /** Oldest first. */
  private readonly messages = new Map<string, Message>();
  private arrivals = 0;

  private constructor(private readonly directory?: string) {}

  /** A mailbox with the messages that lie in the directory already. */
  static async open(directory?: string): Promise<Mailbox> {
    const mailbox = new Mailbox(directory);
    if (directory === undefined) return mailbox;
    makeDirectory(directory);
    const ids = readdirSync(directory).flatMap((name) => (/^[0-9a-z]+\.eml$/.test(name) ? [name.slice(0, -'.eml'.length)] : []));
    for (const id of ids.sort()) await mailbox.add(id, readFileSync(mailbox.file(id)));
    return mailbox;
  }

  /** Keeps a message; when it returns, the message is in its file. */
  async keep(raw: Buffer): Promise<Message> {
    // Nine digits of base 36 hold milliseconds until the year 5188.
    const count = (this.arrivals++ % 36 ** 4).toString(36).padStart(4, '0');
    const id = Date.now().toString(36).padStart(9, '0') + count + randomBytes(3).toString('hex');
    if (this.directory !== undefined) {
      writeFileSync(`${this.file(id)}.new`, raw, { mode: 0o600 });
      renameSync(`${this.file(id)}.new`, this.file(id));
    }
    return this.add(id, raw);
  }

  /** Newest first. */
  list(): Message[] {
    return [...this.messages.values()].reverse();
  }

  /** @param id of a message, or `latest` */
  get(id: string): Message | undefined {
    return id === 'latest' ? this.list()[0] : this.messages.get(id);
  }

  remove(id: string): void {
    if (this.messages.delete(id) && this.directory !== undefined) rmSync(this.file(id), { force: true });
  }

  private async add(id: string, raw: Buffer): Promise<Message> {
    const email = await PostalMime.parse(raw).catch(
      (): Email => ({ headers: [], headerLines: [], attachments: [], subject: '(cannot be read)' }),
    );
    const receivedAt = new Date(Number.parseInt(id.slice(0, 9), 36));
    const kept = this.directory === undefined ? () => raw : () => readFileSync(this.file(id));
    const message = { id, receivedAt, email, read: false, raw: kept };
    this.messages.set(id, message);
    for (const oldest of this.messages.keys()) {
      if (this.messages.size <= messagesKept) break;
      this.remove(oldest);
    }
    return message;
  }

  private file(id: string): string {
    return join(this.directory ?? '', `${id}.eml`);
  }
}

/** The addresses in a header, groups unwrapped. */
export function mailboxes(addresses: Address | Address[] | undefined): Mailboxes[] {
  return [addresses ?? []].flat().flatMap((address) => (address.group === undefined ? [address] : address.group));
}
