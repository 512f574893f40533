/** Turns places and names of the API into the words of the cards. */

import { fieldWords } from '../words.js';

export const fieldName = (field: string) => fieldWords[field] ?? (field === 'if' ? 'Only if' : field);

/** For example `manager email` for the variable `manager_email`. */
export const variableWords = (name: string) => name.replaceAll('_', ' ');

/** Says where a mistake is: `Step 2, Wait`. @param pointer - into the contents. */
export function placeText(pointer: string): string {
  const [, part, name = '', field = ''] = pointer.split('/');
  if (part === 'actions' && name !== '')
    return [`Step ${Number(name) + 1}`, field && fieldName(field)].filter(Boolean).join(', ');
  if (part === 'variables') return `The value ${variableWords(name)}`;
  return part === 'when' ? 'The condition of the rule' : 'The rule';
}

/** The API counts actions from 0 and names its fields. The cards count steps from 1. */
export function inSteps(text: string): string {
  return text
    .replaceAll(/(?<![\w/])\/(?:actions|variables|when)\b[\w/-]*/g, placeText)
    .replaceAll(/\bactions? (\d+)\b/g, (_, index) => `step ${Number(index) + 1}`)
    .replaceAll(/with actionCondition status==(\w+)/g, 'that runs only if still $1');
}
