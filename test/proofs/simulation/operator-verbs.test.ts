import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { nouns } from '../../../shared/operator/catalogue.ts'

/** Each verb that changes something is called by simulated operators. */

const source = globSync('proofs/simulation/{scenario,peers}/*.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

const isNamed = (noun: string, verb: string): boolean =>
  [`'${noun} ${verb}'`, `'${noun}', '${verb}'`, `'${noun}', { verb: '${verb}'`].some((text) =>
    source.includes(text),
  )

/** Verbs that a variable names. */
const drawn = ['customer upload', 'debit complete', 'debit fail', 'exception upload']

const notCalled: Record<string, string> = {
  'settlement fail': 'a simulated bank never says that it will not pay',
  'calendar set': 'additions and removals change the same item',
}

test('every verb that changes something is called in simulations, or has a reason', () => {
  const verbs = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
    Object.entries(verbs).flatMap(([verb, { effect }]) =>
      effect === 'reads' || isNamed(noun, verb) ? [] : [`${noun} ${verb}`],
    ),
  )
  expect(verbs.sort()).toEqual([...drawn, ...Object.keys(notCalled)].sort())
})
