/** The fields and tickets of the Zendesk simulator. */

export type ZendeskValue = string | number | boolean | string[] | null;

export interface ZendeskField {
  id: number;
  type: string;
  title: string; // not unique
  active: boolean;
  required: boolean; // a ticket can be solved only if the field has a value
  agentCanEdit: boolean;
  isSystem: boolean; // for fields such as the status, which `custom_fields` does not contain
  regexp?: string;
  options?: { name: string; value: string }[];
}

export interface ZendeskTicket {
  id: number;
  subject: string;
  status: 'new' | 'open' | 'pending' | 'hold' | 'solved' | 'closed';
  priority: string | null;
  createdAt: string;
  updatedAt: string;
  values: Record<number, ZendeskValue>; // the values of custom fields; the key is the field id
  audit: ZendeskAudit; // the newest audit
}

export interface ZendeskAudit {
  id: number;
  ticket_id: number;
  created_at: string;
  author_id: number;
  events: { id: number; type: 'Change'; field_name: string; value: ZendeskValue; previous_value: ZendeskValue }[];
}

/** The id of the user to whom the credentials belong. */
export const agent = 20978392;

/** There is a field of each type. Two fields have the title `Arrival`; one is not active. Two fields have the title `Gate`. */
export function zendeskFields(): ZendeskField[] {
  const usual = { active: true, required: false, agentCanEdit: true, isSystem: false };
  const field = (id: number, type: string, title: string, more: Partial<ZendeskField> = {}): ZendeskField => {
    return { id, type, title, ...usual, ...more };
  };
  const optionsOf = (...pairs: [name: string, value: string][]) => ({ options: pairs.map(([name, value]) => ({ name, value })) });
  return [
    field(100, 'subject', 'Subject', { isSystem: true }),
    field(101, 'status', 'Status', { isSystem: true }),
    field(360001, 'date', 'Arrival'),
    field(360002, 'text', 'Site note'),
    field(360003, 'textarea', 'Report'),
    field(360004, 'integer', 'Visits'),
    field(360005, 'decimal', 'Hours'),
    field(360006, 'checkbox', 'Visited'),
    field(360007, 'tagger', 'Result', {
      required: true,
      ...optionsOf(['Done', 'result_done'], ['Return needed', 'result_return']),
    }),
    field(360008, 'multiselect', 'Skills', optionsOf(['Cabling', 'skill_cabling'], ['Wireless', 'skill_wireless'])),
    field(360009, 'regexp', 'Permit', { regexp: '^[A-Z]{2}-\\d{2}$' }),
    field(360010, 'partialcreditcard', 'Card'),
    field(360011, 'lookup', 'Technician'),
    field(360012, 'text', 'Relay id', { agentCanEdit: false }),
    field(360013, 'text', 'Gate'),
    field(360014, 'text', 'Gate'),
    field(360000, 'date', 'Arrival', { active: false }),
  ];
}

export function zendeskTickets(): Map<number, ZendeskTicket> {
  const ticket = (id: number, subject: string, more: Partial<ZendeskTicket> = {}): [number, ZendeskTicket] => {
    const createdAt = '2026-01-05T08:00:00Z';
    const audit = { id: 1, ticket_id: id, created_at: createdAt, author_id: agent, events: [] };
    const times = { createdAt, updatedAt: '2026-01-05T09:00:00Z' };
    return [id, { id, subject, status: 'open', priority: null, ...times, values: {}, audit, ...more }];
  };
  return new Map([
    ticket(35436, 'Replace a broken till', { values: { 360002: 'Ring twice', 360006: false } }),
    ticket(35437, 'Install two access points'),
    ticket(35438, 'Check the till', { status: 'closed' }),
  ]);
}
