/** Asks the API with a body, and again a moment after each change of the body. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ask, Refused } from '../base.js';

/** @param request - if undefined, nothing is asked. @returns `isOutdated`: the answer is about an earlier body. */
export function useAnswer<Body>(path: string, request: object | undefined, pauseMs = 0) {
  const answer = useSignal<{ text: string; body?: Body; refused?: Refused }>({ text: '' });
  const text = JSON.stringify(request) ?? '';
  useEffect(() => {
    if (!request) return;
    let isOld = false;
    const hear = async () => {
      try {
        const body = await ask<Body>('POST', path, request);
        if (!isOld) answer.value = { text, body };
      } catch (refused) {
        if (!(refused instanceof Refused)) throw refused;
        if (!isOld) answer.value = { ...answer.value, refused };
      }
    };
    const timer = setTimeout(() => void hear(), pauseMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text]);
  const { body, refused } = answer.value;
  return { body, refused, isOutdated: answer.value.text !== text };
}
