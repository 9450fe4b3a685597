import { expect, test } from 'vitest'
import { forms } from '../../console/server/forms.ts'
import { nouns } from '../../shared/operator/catalogue.ts'

/** The forms of the console. */

const field = (noun: string, verb: string, name: string) =>
  forms[noun]?.[verb]?.fields.find((one) => one.name === name)

/** The options that no operator enters. */
const ADDED = ['bulk', 'days', 'run', 'reconciled']

test('every verb that an operator calls has a form with its options', () => {
  for (const [noun, { verbs }] of Object.entries(nouns)) {
    const called = Object.keys(verbs).filter((verb) => verb !== 'upload')
    expect(Object.keys(forms[noun] ?? {}), noun).toEqual(called)
    for (const verb of called) {
      const names = forms[noun]?.[verb]?.fields.map(({ name }) => name)
      const options = Object.keys(verbs[verb]?.options.entries ?? {})
      expect(names, `${noun} ${verb}`).toEqual(options.filter((name) => !ADDED.includes(name)))
    }
  }
})

test('a field has the choices, the type and the objects of its option', () => {
  expect(field('bank', 'update', 'when-down')?.choices).toEqual(['accept', 'refuse', 'default'])
  expect(field('bank', 'update', 'maximum')).toMatchObject({ type: 'text', isRequired: false })
  expect(field('bank', 'update', 'maximum')?.choices).toBeUndefined()
  expect(field('bank', 'update', 'connector-secret')?.type).toBe('password')
  expect(field('provider', 'update', 'provider')?.object).toBe('provider')
  expect(field('settlement', 'complete', 'bank')).toMatchObject({ object: 'bank', words: ['none'] })
  expect(field('provider', 'create', 'provider')?.object).toBeUndefined()
  expect(field('settlement', 'run', 'date')).toMatchObject({ type: 'date', isRequired: true })
  expect(field('calendar', 'set', 'file')?.type).toBe('file')
  expect(field('calendar', 'set', 'days')).toBeUndefined()
  expect(field('exception', 'resolve', 'note')?.isRequired).toBe(true)
  expect(forms.debit?.reverse).toMatchObject({ effect: 'money', approval: 'always' })
})
