import { expect, test } from 'vitest'
import { real } from '../../../shared/runtime.ts'
import {
  openRequestSecrets,
  sealRequestSecret,
} from '../../../shared/store/providers/request-secrets.ts'
import { demoProvider, inSeconds, NOON } from '../../support/examples.ts'

/** Checks the secrets that verify the requests of a provider (docs/api.md#request-signing). */

process.env.SEALING_KEY = 'a text for tests'
const { id } = demoProvider

test('the previous secret verifies requests until its overlap ends, and the current one always', async () => {
  const [secret, earlier] = await Promise.all(
    ['current', 'previous'].map((text) => sealRequestSecret(id, text, real)),
  )
  const until = inSeconds(60).toISOString()
  const signing = { secret: secret ?? '', previous: { secret: earlier ?? '', until } }
  const at = (seconds: number) => openRequestSecrets(id, signing, inSeconds(seconds))
  expect(await openRequestSecrets(id, signing, NOON)).toEqual(['current', 'previous'])
  expect(await at(59.999)).toEqual(['current', 'previous'])
  expect(await at(60)).toEqual(['current'])
})
