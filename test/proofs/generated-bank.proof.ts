import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkBank } from '../../commands/bank-check/cases.ts'
import { startBank } from '../../proofs/foreign-clients/generators.ts'
import { freePort } from '../../sandbox/local-server.ts'
import { eventually } from '../support/eventually.ts'
import { useService } from '../support/running-service.ts'

/** A bank on the server that python-fastapi generates from docs/bank-protocol.json. */

const secret = 'cs_secret_of_the_bank'
const phone = '+233241234567'
const service = useService({ timeScale: 30 })
let url = ''
let bank: Awaited<ReturnType<typeof startBank>> | undefined
afterAll(() => bank?.stop())

beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  bank = await startBank(port, secret, phone)
  await eventually(async () => expect((await fetch(url)).status).toBe(401))
}, 240_000)

test('a bank on a generated server passes each case of `bank-check`', async () => {
  const target = { url, secret, account: undefined, phone }
  const results = await Array.fromAsync(checkBank(target, ['submission', 'payout', 'refund']))
  expect(results.filter(({ problem }) => problem)).toEqual([])
  expect(results.length).toBeGreaterThan(50)
})

test('the service asks a bank on a generated server for an account, and submits a debit to it', async () => {
  const connector = { connector: 'http', 'connector-url': url, 'connector-secret': secret }
  const bank = { bank: 'GEN', name: 'Generated', ...connector, 'account-lookup': 'on' }
  await service.call('bank', 'create', bank)
  const { reference } = await service.chargeUntil('processing', { bank_identifier: 'GEN' })
  const debit = await service.call('debit', 'show', { reference })
  expect(debit).toMatchObject({ status: 'processing', amount: '100.00' })
})
