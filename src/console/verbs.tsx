/** The buttons to decide about one action, and the dialog that edits its fields. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { editsEarly, type SteeringVerb, steeringVerbs, verbsFor } from '../chain/allowed-verbs.js';
import { type Fields, fieldAt, fixedFields } from '../chain/fields.js';
import { isUnknown } from '../chain/outcome.js';
import type { Issue } from '../chain/request.js';
import { capital } from '../chain/text.js';
import { callerText, type NamedIn, ownFields } from '../chain/words.js';
import { ask, co, may, pageOf } from './base.js';
import { changesOf, formText, hintOf, isLong } from './fields.js';
import { deedOf } from './story.js';
import type { ActionResource, ChainResource } from './types.js';
import { Button, ButtonTo, Confirm, type ConfirmProps, NotReady, useDeed } from './ui/dialog.js';
import { Area, Check, Entry, Failure, Fold, ProblemNote, Select } from './ui/index.js';
import { actionWords, fieldsOfAction, fieldWords, helpFor, labelled, renamedWords, stateWords, verbWords } from './words.js';

interface VerbsProps {
  chain: ChainResource;
  action: ActionResource;
  /** The verbs that can have a button here. By default, all verbs. */
  only?: readonly SteeringVerb[];
  /** The end of each button's text, such as ` this action`. Needed beside buttons that decide about several chains. */
  which?: string;
  onBegin?(): void;
  onDone?(): void;
}

const cancelling = 'You cannot undo this. If the step is running now, it can still succeed. The next steps still run.';
const minutes = {
  ...{ hint: 'Other steps keep their times.', first: '30', required: true },
  ...({ type: 'number', min: '0', max: '527040', step: 'any' } as const),
};
/** What a dialog asks before a decision. Retry acts immediately. */
const questions: Partial<Record<SteeringVerb, Pick<ConfirmProps, 'verb' | 'danger' | 'fields' | 'about'>>> = {
  skip: { verb: 'Skip', about: 'This step will not run. The chain continues with the next step.' },
  runNow: {
    verb: 'Run now',
    about: 'The relay runs this step now, if its condition is true and no pause stops the step. You cannot undo this.',
  },
  cancel: { verb: 'Cancel the step', danger: true, about: cancelling },
  reschedule: { verb: 'Reschedule', fields: { minutes: { label: 'Minutes from now', ...minutes } } },
};

export function Verbs({ chain, action, only = steeringVerbs, which = '', onBegin, onDone }: VerbsProps) {
  const [asked, hasDecided] = [useSignal<SteeringVerb | undefined>(undefined), useSignal(false)];
  const deed = useDeed();
  const group = useRef<HTMLFieldSetElement>(null);
  const title = deedOf(action);
  const allowed = may('steer') ? verbsFor(chain, action).filter((verb) => only.includes(verb)) : [];
  const verbs = allowed.filter((verb) => verb !== 'cancel' || !allowed.includes('skip')); // both leave the step out
  if (verbs.length === 0 && !hasDecided.value && !asked.value) return null;
  const close = () => (asked.value = undefined);
  /** The pressed button may disappear, so the group of buttons takes the focus. */
  const decided = () => {
    close();
    hasDecided.value = true;
    setTimeout(() => group.current?.focus());
    onDone?.();
  };
  const decide = async (verb: SteeringVerb, body?: object) => {
    const at = co`/chains/${chain.chainId}/actions/${String(action.index)}/${verb}`;
    const words = `You requested “${verbWords[verb]}” for the step “${title}”.`;
    if (await deed.run(() => ask('POST', at, body), words)) decided();
  };
  const choose = (verb: SteeringVerb) => {
    onBegin?.();
    if (verb === 'mend' || questions[verb]) asked.value = verb;
    else void decide(verb);
  };
  const help = helpFor(action.error && { ...action.error, assignmentId: action.assignmentId });
  const isBest = (verb: SteeringVerb) => verb === help?.by;
  const { by } = action.steered?.at(-1) ?? {};
  const meanwhile = asked.value && !verbs.includes(asked.value) && (
    <p class="note wait" role="status">
      The step has changed: its state is now “{stateWords(action.state)}”{by && ` (last decision: ${callerText(by)})`}. The relay
      may refuse your decision. Your input stays here until you choose Back.
    </p>
  );
  const question = asked.value && questions[asked.value];
  return (
    <fieldset ref={group} class="row" tabIndex={-1} aria-label={`Decisions about the step “${title}”`}>
      {help?.by === 'settings' && may('manage') && action.state === 'needs-attention' && (
        <ButtonTo href={pageOf.settings()}>{help.words}</ButtonTo>
      )}
      {[...verbs]
        .sort((one, other) => Number(isBest(other)) - Number(isBest(one)))
        .map((verb) => (
          <Button key={verb} class={isBest(verb) ? 'main' : 'quiet'} aria-disabled={deed.busy} onClick={() => choose(verb)}>
            {verb === 'mend' && isBest(verb) && help?.words
              ? `${labelled(help.words).replace(/ of the step$/, '')}${which && ' of'}`
              : (editsEarly(verb, action.state) && 'Edit') || verbWords[verb]}
            {which}
            {(verb === 'mend' || verb === 'reschedule') && '…'}
            <span class="unseen">: {title}</span>
          </Button>
        ))}
      {!asked.value && <ProblemNote refused={deed.refused} />}
      {asked.value === 'mend' && <MendDialog {...{ chain, action, onClose: close, onDone: decided, children: meanwhile }} />}
      {asked.value && question && (
        <Confirm
          {...{ ...deed, ...question, onClose: close, children: meanwhile }}
          title={`${verbWords[asked.value]}${question.about ? '?' : ':'} ${title}`}
          onConfirm={({ minutes }) =>
            asked.value && void decide(asked.value, minutes ? { seconds: Math.round(60 * +minutes) } : undefined)
          }
        />
      )}
    </fieldset>
  );
}

/** `at`: the prefix of the JSON pointers to the fields, such as `/fields`. */
type FieldInputsProps = { fields: Fields; texts: Signal<Record<string, string>>; issues: readonly Issue[]; at: string } & {
  words?: Record<string, string>; // the labels of the fields
};

const doing = { label: 'What the step does', options: [['', 'choose…'] as const, ...Object.entries(actionWords)] };

/** Shows one input for each field, also for missing fields that an issue names. If there are issues, folds the other fields. */
export function FieldInputs({ fields, texts, issues, at, words = fieldWords }: FieldInputsProps) {
  const mentioned = issues.flatMap((issue) => fieldAt(issue, at) ?? []);
  const added = ownFields[texts.value.action ?? ''] ?? []; // the fields of an action that the user chose
  const names = [...new Set([...Object.keys(fields), ...Object.keys(texts.value), ...mentioned, ...added])];
  const editor = (name: string) => {
    const value = fields[name];
    const said = labelled(issues.flatMap((issue) => (fieldAt(issue, at) === name ? issue.detail : [])).join('; '));
    const isSolved = (name === 'action' || /^is (required|missing)/.test(said)) && texts.value[name]?.trim();
    const problem = isSolved ? '' : said;
    const write = (text: string) => (texts.value = { ...texts.value, [name]: text });
    if (name === 'action') return <Select key={name} {...{ ...doing, problem: problem && 'Choose one.', onPick: write }} />;
    if (problem && words === fieldWords && !(name in words))
      return <MeantField key={name} {...{ name, problem, value, texts, fields }} />;
    const field = {
      ...{ label: words[name] ?? capital(name.replaceAll(/[._]+/g, ' ')), hint: hintOf(name, fields) },
      ...{ problem, value: texts.value[name] ?? formText(name, value) },
      ...({ autocomplete: 'off', spellcheck: false } as const),
      onText: write,
    };
    return isLong(name, value) ? <Area key={name} {...field} rows={4} /> : <Entry key={name} {...field} />;
  };
  const isWrong = (name: string) =>
    issues.length === 0 ? name !== 'bodyHtml' : mentioned.includes(name) || (added.includes(name) && !(name in fields));
  const isHidden = (name: string) => (name === 'bodyHtml' ? !(name in fields) : fixedFields.includes(name));
  const shown = names.filter((name) => !isHidden(name) || (name === 'action' && mentioned.includes(name)));
  const others = shown.filter((name) => !isWrong(name));
  return (
    <>
      {shown.filter(isWrong).map(editor)}
      {others.length > 0 && <Fold {...{ summary: 'Other fields', isNeeded: false }}>{others.map(editor)}</Fold>}
    </>
  );
}

type MeantProps = Pick<FieldInputsProps, 'texts' | 'fields'> & { name: string; problem: string; value: unknown };
/** The user says which field a misspelt name means. */
function MeantField({ name, problem, value, texts, fields }: MeantProps) {
  const meant = useSignal('');
  const ofAction = fieldsOfAction[texts.value.action ?? String(fields.action)] ?? Object.keys(fieldWords);
  const free = ofAction.filter((field) => !(field in fields)).map((field) => [field, fieldWords[field] ?? field] as const);
  const onPick = (to: string) => {
    const { [meant.value]: _, [name]: __, ...others } = texts.value;
    texts.value = { ...others, ...(to && { [name]: '' }), ...(to in fieldWords && { [to]: formText(to, value) }) };
    meant.value = to;
  };
  const options = [['', 'choose…'], ['none', 'leave this text out of the request'], ...free] as const;
  const label = `The field “${name}” is unknown. Its text is “${formText('', value)}”. Choose the field for this text`;
  return <Select {...{ label, problem: meant.value ? undefined : problem, options, onPick }} />;
}

type Editable = { fields: Fields; sameAssignment: number[]; naming: NamedIn[] };

type MendProps = Pick<VerbsProps, 'chain' | 'action'> & Pick<ConfirmProps, 'children' | 'onClose'> & { onDone(): void };

function MendDialog({ chain: { chainId }, action, children, onClose, onDone }: MendProps) {
  const at = co`/chains/${chainId}/actions/${String(action.index)}`;
  const read = useSignal<Editable | undefined>(undefined);
  const [typed, isUnchanged] = [useSignal<Record<string, string>>({}), useSignal(false)];
  const [deed, isEarly] = [useDeed(), editsEarly('mend', action.state)];
  const load = async () => (read.value = await ask('GET', `${at}/fields`));
  useEffect(() => void deed.run(load), []);
  const dialog = { title: `Edit: ${deedOf(action)}`, ...deed, onClose };
  if (!read.value) return <NotReady {...dialog}>Loading the fields…</NotReady>;
  const { fields, sameAssignment, naming } = read.value;
  const changes = changesOf(fields, typed.value);
  const count = Object.keys(changes).length;
  const [others, named] = 'platformAssignmentId' in changes ? [sameAssignment, naming] : [[], []];
  const kept = named.filter(({ index, field }) => index !== action.index || !(field in changes));
  const { also, fixed } = renamedWords(others, kept);
  const mend = async ({ isMeant, areAll }: Record<string, string>) => {
    isUnchanged.value = count === 0;
    if (count === 0) return;
    const asked = { fields: changes, confirmUnknown: isMeant ? true : undefined, texts: areAll ? true : undefined };
    if (await deed.run(() => ask('POST', `${at}/mend`, asked), 'Saved. The step has the new values.')) onDone();
  };
  return (
    <Confirm {...dialog} verb={isEarly ? 'Save' : 'Save and retry'} onConfirm={(given) => void mend(given)}>
      {children}
      {action.error && <Failure of={{ ...action.error, assignmentId: action.assignmentId }} />}
      <p>The relay checks your changes. {isEarly ? 'The step runs at its planned time.' : 'Then it retries the step.'}</p>
      {isUnchanged.value && count === 0 && (
        <p class="note wait" role="alert">
          You have not changed anything. {!isEarly && 'To retry without changes, go back and choose Retry.'}
        </p>
      )}
      <FieldInputs fields={fields} texts={typed} issues={deed.refused?.problem.errors ?? []} at="/fields" />
      {also && (
        <Check name="areAll" defaultChecked>
          Also change the assignment number in the rest of this chain. <span class="soft small">({also})</span>
        </Check>
      )}
      {fixed && <p class="note wait">The old assignment number stays in: {fixed}.</p>}
      {isUnknown(action) && (
        <Check name="isMeant" required>
          I have checked in the other system that the last attempt did not work.
        </Check>
      )}
    </Confirm>
  );
}
