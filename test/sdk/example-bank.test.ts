import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkBank } from '../../commands/bank-check/cases.ts'
import { type BankClient, bankClient } from '../../commands/bank-check/requests.ts'
import { printedBy, useCommands } from '../support/commands.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/folders.ts'
import { createPayee, nightAfter, settlementAccount } from '../support/payee.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** The example bank as a process, with the cases of `debit bank-check` and with the service. */

const service = useService()
const start = useCommands()

const secret = 'cs_secret_of_the_example'
const account = '1041001001'
const token = 'bt_sandbox_xyz'

const startBank = async (variables = {}) => {
  const env = { ...process.env, PORT: '0', CONNECTOR_SECRET: secret, ...variables }
  const bank = start(['sdk/typescript/examples/bank.ts'], env)
  return { ...bank, url: await printedBy(bank, /^bank (\S+)$/m) }
}

test('the example bank passes all cases', async () => {
  const { url } = await startBank()
  const results: [string, string | undefined][] = []
  const kinds = ['submission', 'payout', 'refund'] as const
  for await (const { name, problem } of checkBank(
    { url, secret, account, phone: '+233241234567' },
    kinds,
  )) {
    results.push([name, problem])
  }
  expect(results.length).toBeGreaterThan(50)
  expect(Object.fromEntries(results)).toEqual(
    Object.fromEntries(results.map(([name]) => [name, undefined])),
  )
  expect(new Set(results.map(([name]) => name)).size).toBe(results.length)
})

test('the example bank rejects a debit with its reason', async () => {
  const { url } = await startBank()
  const rejectionOf = async (amount: number, ofAccount: string) => {
    const client = bankClient({ url, secret, account: ofAccount })
    return (await client.post(await client.newOrder('submission', amount))).result
  }
  expect(await rejectionOf(2_000_000_000, account)).toMatchObject({ code: 'insufficient_funds' })
  expect(await rejectionOf(100, '9990009990')).toMatchObject({ code: 'invalid_account' })
})

test('the example bank keeps its replies in its database after a crash', async () => {
  const DATABASE = join(newFolder(), 'bank.sqlite')
  const first = await startBank({ DATABASE })
  const client = bankClient({ url: first.url, secret, account })
  const order = await client.newOrder('payout')
  const paid = await client.post(order)
  expect(paid).toMatchObject({ status: 'paid', result: { bankReference: 'XYZ-1' } })
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const { url } = await startBank({ DATABASE })
  expect(await bankClient({ url, secret, account }).post(order)).toEqual(paid)
})

test('two processes of the example bank share a database, and decide a request once', async () => {
  const DATABASE = join(newFolder(), 'bank.sqlite')
  const banks = [await startBank({ DATABASE }), await startBank({ DATABASE })]
  const clients = banks.map(({ url }) => bankClient({ url, secret, account }))
  const [client] = clients as [BankClient]
  const orders = await Promise.all(Array.from({ length: 10 }, () => client.newOrder('payout')))
  const replies = orders.map((order) => Promise.all(clients.map((one) => one.post(order))))
  const pairs = await Promise.all(replies)
  for (const [reply, repeated] of pairs) expect(repeated).toEqual(reply)
  const references = pairs.map(([reply]) => JSON.parse(reply?.text ?? '').bank_reference)
  expect(new Set(references).size).toBe(10)
})

test('the example bank completes, pays out and refunds debits of the service', async () => {
  const { url } = await startBank({ SERVICE: service.sandbox().address, BANK_TOKEN: token })
  const connector = { connector: 'http', 'connector-url': url, 'connector-secret': secret }
  await service.call('bank', 'create', { bank: 'XYZ', name: 'XYZ Bank', ...connector })
  await service.call('credential', 'issue', { bank: 'XYZ', token })
  const phone_number = '+233247770001'
  const customer = { phone: phone_number, bank: 'XYZ', name: 'Ama Mensah' }
  await service.call('customer', 'link', { ...customer, 'account-number': account })
  const payee = await createPayee(service, 'paid-by-xyz', settlementAccount(account, 'XYZ'))
  const fields = { phone_number, bank_identifier: 'XYZ', amount: '100.00' }

  const kept = await service.chargeUntil('completed', fields, payee.credential)
  expect(await service.show(kept.reference)).toMatchObject({ bank_reference: 'XYZ-1' })
  const reversed = await service.chargeUntil('completed', fields, payee.credential)
  await payee.reverse(reversed.reference)
  await eventually(async () => {
    const { refund } = await service.show(reversed.reference)
    expect(refund).toMatchObject({ status: 'completed', bank_reference: 'XYZ-3' })
  })

  const [{ id }] = (await payee.run(nightAfter(0))).built as Shown
  const { paid } = await payee.run(nightAfter(1))
  const payout = { id, status: 'completed', paid: '98.50', bank_reference: 'XYZ-4' }
  expect(paid).toMatchObject([payout])

  const unknown = { ...fields, phone_number: '+233247770002' }
  const { reference } = await service.chargeUntil('failed', unknown, payee.credential)
  const error_details = { code: 'invalid_account' }
  expect(await service.show(reference)).toMatchObject({ error_details })
})
