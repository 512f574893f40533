/** The draft as JSON. It also reads the list of a webhook, and removes its tokens. */

import { useSignal } from '@preact/signals';
import { Area } from '../ui/index.js';
import { contentsText, draftOf, readContents, withoutTokens } from './draft.js';
import { useKnowledge } from './knowledge.js';

/** @param onList - called if the text is a list of a webhook. */
export function JsonView({ onList }: { onList(): void }) {
  const { draft, problems, change } = useKnowledge();
  const stored = contentsText(draft, 2);
  const [typed, hadTokens] = [useSignal(stored), useSignal(false)];
  const { contents, error } = readContents(typed.value);
  // After an undo, the typed text is not the draft any more.
  const isStale = contents && contentsText(draftOf(contents), 2) !== stored;
  const take = (given: string) => {
    typed.value = withoutTokens(given);
    hadTokens.value ||= typed.value !== given;
    const { contents, isList } = readContents(typed.value);
    if (isList) onList();
    if (contents) change(draftOf(contents), 'json');
  };
  return (
    <>
      <Area
        label="Rule as JSON"
        hint="You can also paste the list of a webhook here. Your changes also appear on the cards."
        problem={error && `This ${error}. The last valid text stays saved`}
        class="json"
        spellcheck={false}
        rows={24}
        value={isStale ? stored : typed.value}
        onText={take}
      />
      {hadTokens.value && <p class="note">The page removed the tokens. A rule needs none.</p>}
      {problems.length > 0 && !error && (
        <ul class="note bad">
          {problems.map(({ pointer, detail }) => (
            <li key={pointer + detail}>
              <code>{pointer || '/'}</code> {detail}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
