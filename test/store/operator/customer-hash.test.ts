import { beforeEach, expect, test } from 'vitest'
import { real } from '../../../shared/runtime.ts'
import { customerHasher, findCustomerHash } from '../../../shared/store/operator/customer-hash.ts'
import { atOnce } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeEach(useFreshTable)

test('two first calls at the same time name a customer by one hash', async () => {
  process.env.SEALING_KEY = 'a text for tests'
  const hashers = await atOnce(2, () => customerHasher(real))
  const expected = await findCustomerHash('+233241234567')
  expect(hashers.map((hash) => hash('+233241234567'))).toEqual([expected, expected])
})
