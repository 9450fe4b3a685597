import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { nouns } from '../../../shared/operator/catalogue.ts'

/** Each verb that changes something is called by simulated operators, or has the reason why not. */

const source = globSync('proofs/simulation/{scenario,peers}/*.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

const isNamed = (noun: string, verb: string): boolean =>
  [`'${noun} ${verb}'`, `'${noun}', '${verb}'`, `'${noun}', { verb: '${verb}'`].some((text) =>
    source.includes(text),
  )

/** Verbs that a variable names. */
const drawn = ['debit complete', 'debit fail', 'customer upload', 'exception upload']

const notCalled: Record<string, string> = {
  'bank behave': 'only sandbox banks have a behaviour',
  'connector remove':
    'debits of a bank without a connector end without a query; invariants 38 and 57 lack it',
  'delivery recover': 'no invariant describes a recovery; flows/webhook-health tests it',
  'delivery redeliver': 'providers request the same redelivery',
}

test('every verb that changes something is called in simulations, or has a reason', () => {
  const verbs = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
    Object.entries(verbs).flatMap(([verb, { effect }]) =>
      effect === 'reads' || isNamed(noun, verb) ? [] : [`${noun} ${verb}`],
    ),
  )
  expect(verbs.sort()).toEqual([...drawn, ...Object.keys(notCalled)].sort())
})
