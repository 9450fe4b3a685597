import { expect, test } from 'vitest'
import { unwantedPromptsIn } from '../../shared/domain/providers/daily-use.ts'

test.each([
  ['half of the prompts', { charges: 40, unwantedPrompts: 20 }, undefined],
  ['more than half of them', { charges: 39, unwantedPrompts: 20 }, { prompts: 39, unwanted: 20 }],
  ['all of fewer than twenty', { charges: 19, unwantedPrompts: 19 }, undefined],
  [
    'more than half of those that they got',
    { charges: 60, invalidAccounts: 15, refusedPrompts: 6, unwantedPrompts: 20 },
    { prompts: 39, unwanted: 20 },
  ],
])(
  'the unwanted prompts of a day count from twenty on, if they are more than half: %s',
  (_, use, found) => {
    expect(unwantedPromptsIn(use)).toEqual(found)
  },
)
