/** The tables of the ServiceNow simulator: rows, columns, references, encoded queries. */

import { z } from 'zod';

/** If a row does not have a column, the column is empty. */
export type ServicenowRow = Record<string, string>;

/** `column` is the column's row in sys_dictionary. */
type Cell = { column: ServicenowRow; value: string };

/** Makes functions that read the tables. @param state.timeZone - the time zone of the user, for display values */
export function tablesOf(state: { tables: Map<string, ServicenowRow[]>; hiddenTables: Set<string>; timeZone: string }) {
  const rowsIn = (table: string) => state.tables.get(table) ?? [];
  /** The table and its parents. */
  const lineage = (table: string): string[] => {
    const parent = rowsIn('sys_db_object').find(({ name }) => name === table)?.super_class;
    const { name } = rowsIn('sys_db_object').find(({ sys_id }) => sys_id === parent) ?? {};
    return name === undefined ? [table] : [table, ...lineage(name)];
  };
  const rowsOf = (table: string) =>
    [...state.tables.keys()].filter((name) => !state.hiddenTables.has(name) && lineage(name).includes(table)).flatMap(rowsIn);
  const columnsOf = (table: string) => {
    const tables = lineage(table);
    const columns = rowsIn('sys_dictionary').filter(({ name = '' }) => tables.includes(name));
    return columns.filter(({ element, active }) => element !== '' && active === 'true');
  };
  const choicesOf = ({ name, element }: ServicenowRow) =>
    rowsIn('sys_choice').filter((choice) => choice.name === name && choice.element === element && choice.language === 'en');

  /** @param path - a column, or a path through references, such as `assigned_to.name` */
  const cellAt = (table: string, row: ServicenowRow, path: string): Cell | undefined => {
    const [first = '', ...rest] = path.split('.');
    const column = columnsOf(table).find(({ element }) => element === first);
    const value = row[first] ?? '';
    if (column === undefined || rest.length === 0) return column && { column, value };
    const target = rowsOf(column.reference ?? '').find(({ sys_id }) => sys_id === value);
    return column.reference === '' ? undefined : cellAt(column.reference ?? '', target ?? {}, rest.join('.'));
  };

  const nameOf = (row?: ServicenowRow) => row?.name ?? row?.number;
  const displayed = (column: ServicenowRow, value: string): string => {
    if (column.choice !== '0') return choicesOf(column).find((choice) => choice.value === value)?.label ?? value;
    if (column.reference !== '') return nameOf(rowsOf(column.reference ?? '').find(({ sys_id }) => sys_id === value)) ?? value;
    return column.internal_type === 'glide_date_time' && value !== '' ? inZone(utc(value), state.timeZone) : value;
  };
  const fromDisplayed = (column: ServicenowRow, text: string): string => {
    if (column.choice !== '0') return choicesOf(column).find(({ label }) => label === text)?.value ?? text;
    if (column.reference !== '') return rowsOf(column.reference ?? '').find((row) => nameOf(row) === text)?.sys_id ?? text;
    return column.internal_type === 'glide_date_time' && dateTime.test(text) ? fromZone(text, state.timeZone) : text;
  };

  /** Ignores each part of the query that names an unknown column. `isValid` is false if there is such a part. */
  const matching = (table: string, query: string): { rows: ServicenowRow[]; isValid: boolean } => {
    const orders: { path: string; sign: number }[] = [];
    const groups: Condition[][] = []; // in every group, at least one condition must be true
    for (const part of query === '' ? [] : query.split('^')) {
      const [, descending, by] = /^ORDERBY(DESC)?(.+)$/.exec(part) ?? [];
      if (by !== undefined) orders.push({ path: by, sign: descending ? -1 : 1 });
      else if (part.startsWith('OR')) groups.at(-1)?.push(conditionOf(part.slice(2)));
      else groups.push([conditionOf(part)]);
    }
    const isKnown = ({ path }: Condition) => cellAt(table, {}, path) !== undefined;
    const known = groups.map((group) => group.filter(isKnown)).filter((group) => group.length > 0);
    const valueAt = (row: ServicenowRow, path: string) => cellAt(table, row, path)?.value ?? '';
    const rows = rowsOf(table).filter((row) =>
      known.every((group) => group.some((one) => operators[one.operator]?.(valueAt(row, one.path), one.operand))),
    );
    rows.sort((a, b) =>
      orders.reduce((order, { path, sign }) => order || sign * compareTexts(valueAt(a, path), valueAt(b, path)), 0),
    );
    return { rows, isValid: groups.flat().every(isKnown) };
  };
  return { rowsOf, columnsOf, choicesOf, cellAt, displayed, fromDisplayed, matching };
}

type Condition = ReturnType<typeof conditionOf>;

/** A condition that cannot be parsed has an empty path, which is an unknown column. */
function conditionOf(text: string) {
  const [, path = '', operator = '', operand = ''] =
    /^([a-z0-9_.]+?)(!=|=|ISNOTEMPTY|ISEMPTY|IN|LIKE|STARTSWITH|ENDSWITH)(.*)$/.exec(text) ?? [];
  return { path, operator, operand };
}

const operators: Record<string, (value: string, operand: string) => boolean> = {
  '=': (value, operand) => value === operand,
  '!=': (value, operand) => value !== operand,
  IN: (value, operand) => operand.split(',').includes(value),
  ISEMPTY: (value) => value === '',
  ISNOTEMPTY: (value) => value !== '',
  LIKE: (value, operand) => value.includes(operand),
  STARTSWITH: (value, operand) => value.startsWith(operand),
  ENDSWITH: (value, operand) => value.endsWith(operand),
};

const compareTexts = (a: string, b: string) => (a < b ? -1 : Number(a > b));

export const isDate = (text: string) => z.iso.date().safeParse(text).success;
export const dateTime = /^\d{4}-\d\d-\d\d ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;
const utc = (value: string) => Date.parse(`${value.replace(' ', 'T')}Z`);
/** The Swedish locale writes `yyyy-MM-dd HH:mm:ss`. */
export const inZone = (millis: number, timeZone: string) => new Date(millis).toLocaleString('sv-SE', { timeZone });
const fromZone = (text: string, timeZone: string) => {
  const local = utc(text);
  return inZone(2 * local - utc(inZone(local, timeZone)), 'UTC');
};

const usual = { reference: '', max_length: '40', choice: '0', read_only: 'false', mandatory: 'false', active: 'true' };
const column = (name: string, element: string, column_label: string, internal_type: string, more: ServicenowRow = {}) => {
  return { name, element, column_label, internal_type, ...usual, ...more };
};
const texts = (name: string, ...elements: string[]) => elements.map((element) => column(name, element, element, 'string'));
const choice = (name: string, element: string, value: string, label: string, more: ServicenowRow = {}) => {
  return { name, element, value, label, language: 'en', inactive: 'false', sequence: value, ...more };
};
const id = (two: string) => two.repeat(16);

/** There is a column of each type. `u_gate` and `u_gate_2` have the same label, and so do `u_arrival` and an inactive column. */
export function servicenowTables(): Map<string, ServicenowRow[]> {
  const user = { reference: 'sys_user' };
  const update = { sys_mod_count: '4', sys_updated_on: '2026-01-05 09:00:00', sys_updated_by: 'admin' };
  const incident = (two: string, number: string, short_description: string, more: ServicenowRow = {}) => {
    return { sys_id: id(two), sys_class_name: 'incident', ...update, number, short_description, state: '1', ...more };
  };
  const noted = { u_site_note: 'Ring twice', u_visited: 'false' };
  const task = { super_class: id('d1') };
  const tables: Record<string, ServicenowRow[]> = {
    incident: [
      incident('a1', 'INC0010001', 'Replace a broken till', { assigned_to: id('b1'), ...noted }),
      incident('a2', 'INC0010002', 'Install two access points', { u_arrival: '2026-01-04 08:00:00', u_result: 'done' }),
      incident('a3', 'INC0010003', 'Check the till'),
      incident('a4', 'INC0010003', 'Check the till'),
    ],
    task: [],
    problem: [{ sys_id: id('e1'), number: 'PRB0040001' }],
    sys_user: [
      { sys_id: id('b1'), name: 'Ada Example', user_name: 'ada.example' },
      { sys_id: id('b2'), name: 'Bob Example', user_name: 'bob.example' },
    ],
    sys_db_object: [
      { sys_id: id('d1'), name: 'task', label: 'Task' },
      { sys_id: id('d2'), name: 'incident', label: 'Incident', ...task },
      { sys_id: id('d3'), name: 'problem', label: 'Problem', ...task },
    ],
    sys_choice: [
      choice('task', 'state', '1', 'New'),
      choice('task', 'state', '2', 'In Progress'),
      choice('task', 'state', '7', 'Closed'),
      choice('incident', 'u_result', 'done', 'Erledigt', { sequence: '1', language: 'de' }),
      choice('incident', 'u_result', 'done', 'Done', { sequence: '1' }),
      choice('incident', 'u_result', 'return', 'Return needed', { sequence: '2' }),
      choice('incident', 'u_result', 'old', 'Unclear', { sequence: '3', inactive: 'true' }),
    ],
    sys_dictionary: [
      column('task', '', 'Task', 'collection'),
      column('task', 'sys_id', 'Sys ID', 'GUID'),
      column('task', 'sys_class_name', 'Task type', 'sys_class_name'),
      column('task', 'sys_mod_count', 'Updates', 'integer'),
      column('task', 'sys_updated_on', 'Updated', 'glide_date_time'),
      column('task', 'sys_updated_by', 'Updated by', 'string'),
      column('task', 'number', 'Number', 'string'),
      column('task', 'short_description', 'Short description', 'string', { max_length: '160' }),
      column('task', 'state', 'State', 'integer', { choice: '3' }),
      column('task', 'due_date', 'Due date', 'glide_date_time'),
      column('task', 'work_notes', 'Work notes', 'journal_input', { max_length: '4000' }),
      column('task', 'assigned_to', 'Assigned to', 'reference', user),
      column('incident', '', 'Incident', 'collection'),
      column('incident', 'u_arrival', 'Arrival', 'glide_date_time'),
      column('incident', 'u_arrival_old', 'Arrival', 'string', { active: 'false' }),
      column('incident', 'u_visit_day', 'Visit day', 'glide_date'),
      column('incident', 'u_site_note', 'Site note', 'string'),
      column('incident', 'u_report', 'Report', 'html', { max_length: '8000' }),
      column('incident', 'u_hours', 'Hours', 'decimal'),
      column('incident', 'u_score', 'Score', 'float'),
      column('incident', 'u_visits', 'Visits', 'integer'),
      column('incident', 'u_visited', 'Visited', 'boolean'),
      column('incident', 'u_result', 'Result', 'string', { choice: '1' }),
      column('incident', 'u_technician', 'Technician', 'reference', { ...user, max_length: '32' }),
      column('incident', 'u_helpers', 'Helpers', 'glide_list', { ...user, max_length: '1024' }),
      column('incident', 'u_photos', 'Photos', 'url', { max_length: '1024' }),
      column('incident', 'u_door_code', 'Door code', 'glide_encrypted'),
      column('incident', 'u_relay_id', 'Relay id', 'string', { read_only: 'true' }),
      column('incident', 'u_audit', 'Audit note', 'string'),
      column('incident', 'u_gate', 'Gate', 'string'),
      column('incident', 'u_gate_2', 'Gate', 'string'),
      ...texts('sys_user', 'sys_id', 'name', 'user_name'),
      ...texts('sys_db_object', 'sys_id', 'name', 'label'),
      column('sys_db_object', 'super_class', 'Extends table', 'reference', { reference: 'sys_db_object' }),
      ...texts('sys_choice', 'name', 'element', 'value', 'label', 'language', 'inactive', 'sequence'),
      ...texts('sys_dictionary', 'name', 'element', 'column_label', 'max_length', 'choice', 'read_only', 'mandatory', 'active'),
      column('sys_dictionary', 'internal_type', 'Type', 'reference', { reference: 'sys_glide_object' }),
      column('sys_dictionary', 'reference', 'Reference', 'reference', { reference: 'sys_db_object' }),
    ],
  };
  return new Map(Object.entries(tables));
}
