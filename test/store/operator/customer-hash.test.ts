import { beforeEach, expect, test, vi } from 'vitest'
import { real } from '../../../shared/runtime.ts'
import { customerHasher, findCustomerHash } from '../../../shared/store/operator/customer-hash.ts'
import { atOnce } from '../../support/examples.ts'
import { aroundTableCalls } from '../../support/table-calls.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeEach(useFreshTable)

test('two first calls at the same time name a customer by one hash', async () => {
  vi.stubEnv('SEALING_KEY', 'a text for tests')
  const { promise: bothWrite, resolve } = Promise.withResolvers<void>()
  let writes = 0
  aroundTableCalls(async (name, next) => {
    if (name === 'Put') {
      writes += 1
      if (writes === 2) resolve()
      // Neither has read the key of the other.
      await bothWrite
    }
    return next()
  })
  const hashers = await atOnce(2, () => customerHasher(real))
  const expected = await findCustomerHash('+233241234567')
  expect(hashers.map((hash) => hash('+233241234567'))).toEqual([expected, expected])
})
