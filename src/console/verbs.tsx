/** The buttons to decide about one action. */

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type SteeringVerb, steeringVerbs, verbsFor } from '../chain/allowed-verbs.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { pageOf, path } from './addresses.js';
import { ask } from './api.js';
import { MendDialog } from './mend.js';
import { may, useCompany } from './session.js';
import { Button, Confirm, type ConfirmProps, ProblemNote, useDeed } from './ui/index.js';
import { helpFor, stateWords, titleOf, verbWords } from './words.js';

interface VerbsProps {
  chain: ChainResource;
  action: ActionResource;
  /** The verbs that can have a button here. By default, all verbs. */
  only?: readonly SteeringVerb[];
  /** A text at the end of each button, such as ` this one`, if other buttons beside it steer several chains. */
  which?: string;
  /** Called when a button is pressed. */
  onBegin?(): void;
  /** Called after a decision. */
  onDone(): void;
}

/** What a dialog asks before a decision. Retry and Run now act immediately. */
const questions: Partial<Record<SteeringVerb, Pick<ConfirmProps, 'verb' | 'danger' | 'fields'> & { words?: string }>> = {
  skip: { verb: 'Skip', words: 'This action will not run. The chain continues with the next action.' },
  cancel: {
    ...{ verb: 'Cancel the action', danger: true },
    words: 'You cannot undo this. If the action is running now, the relay finishes it first.',
  },
  reschedule: {
    verb: 'Reschedule',
    fields: {
      minutes: {
        ...{ label: 'Minutes from now', hint: 'Other actions keep their times.', first: '30' },
        ...{ type: 'number', min: '0', max: '527040', step: 'any', required: true },
      },
    },
  },
};

export function Verbs({ chain, action, only = steeringVerbs, which = '', onBegin, onDone }: VerbsProps) {
  const { companyId } = useCompany();
  const [asked, hasDecided] = [useSignal<SteeringVerb | undefined>(undefined), useSignal(false)];
  const deed = useDeed();
  const group = useRef<HTMLFieldSetElement>(null);
  const title = titleOf(action);
  const verbs = may('steer') ? verbsFor(chain, action).filter((verb) => only.includes(verb)) : [];
  if (verbs.length === 0 && !hasDecided.value && !asked.value) return null;
  const close = () => (asked.value = undefined);
  /** The pressed button may disappear, so the group of buttons takes the focus. */
  const decided = () => {
    close();
    hasDecided.value = true;
    setTimeout(() => group.current?.focus());
    onDone();
  };
  const decide = async (verb: SteeringVerb, body?: object) => {
    const at = path`/co/${companyId}/chains/${chain.chainId}/actions/${String(action.index)}/${verb}`;
    const words = `${verbWords[verb]} was requested for action ${action.index}.`;
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
      The action is now {stateWords(action.state)}
      {by && `, after a decision of ${by}`}. Your input stays here until you choose Back.
    </p>
  );
  const { words, ...question } = (asked.value && questions[asked.value]) ?? { verb: '' };
  return (
    <fieldset ref={group} class="row verbs" tabIndex={-1} aria-label={`Decisions about action ${title}`}>
      {help?.by === 'settings' && may('manage') && action.state === 'needs-attention' && (
        <a class="button main" href={pageOf.settings(companyId)}>
          {help.words}
        </a>
      )}
      {[...verbs]
        .sort((one, other) => Number(isBest(other)) - Number(isBest(one)))
        .map((verb) => (
          <Button key={verb} class={isBest(verb) ? 'main' : 'quiet'} aria-disabled={deed.busy} onClick={() => choose(verb)}>
            {verb === 'mend' && isBest(verb) && help?.words ? `${help.words}${which && ' of'}` : verbWords[verb]}
            {which}
            {(verb === 'mend' || verb === 'reschedule') && '…'}
            <span class="unseen"> action {title}</span>
          </Button>
        ))}
      {!asked.value && <ProblemNote refused={deed.refused} />}
      {asked.value === 'mend' && (
        <MendDialog chain={chain} action={action} onClose={close} onDone={decided}>
          {meanwhile}
        </MendDialog>
      )}
      {asked.value && question.verb && (
        <Confirm
          {...deed}
          {...question}
          title={`${verbWords[asked.value]} ${title}${words ? '?' : ''}`}
          onClose={close}
          onConfirm={({ minutes }) =>
            asked.value && void decide(asked.value, minutes ? { seconds: Math.round(60 * +minutes) } : undefined)
          }
        >
          {meanwhile}
          {words && <p>{words}</p>}
        </Confirm>
      )}
    </fieldset>
  );
}
