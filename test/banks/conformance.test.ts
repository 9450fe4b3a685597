import { expect, test } from 'vitest'
import type { ConnectorConfig } from '../../shared/banks/connector.ts'
import { connectors, payoutConnectors, refundOperations } from '../../shared/banks/registry.ts'
import type { ConnectorName } from '../../shared/domain/banks/bank.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { account, accountOf, configOf, payoutOf, submissionOf } from './examples.ts'

/** Tests each operation with each connector: a bank debits, pays and refunds once per uuid. */

type Name = Exclude<ConnectorName, 'none'>
type Request = { uuid: string; send: (repeated?: boolean) => Promise<{ kind: string }> }

const operations = {
  submission: (name: Name, config: ConnectorConfig, accountNumber: string): Request => {
    const { submit } = connectors(config)[name]
    const known = accountNumber.endsWith('0000') ? undefined : { ...account, accountNumber }
    const submission = submissionOf({ account: known })
    const send = (repeated = false) => submit({ ...submission, repeated })
    return { uuid: submission.uuid, send }
  },
  payout: (name: Name, config: ConnectorConfig, accountNumber: string): Request => {
    const { pay } = payoutConnectors(config)[name]
    const payout = payoutOf({ account: accountOf(accountNumber) })
    return { uuid: payout.uuid, send: (repeated = false) => pay({ ...payout, repeated }) }
  },
  refund: (name: Name, config: ConnectorConfig, accountNumber: string): Request => {
    const refund = refundOperations(config)[name]
    if (!refund) throw new Error(`${name} takes no refunds`)
    const { uuid, amount, account } = payoutOf()
    const debit = { debitUuid: uuid, debitBankReference: 'HTB-1', createdAt: new Date(0) }
    const payment = {
      ...debit,
      uuid,
      bank: account.bank,
      accountNumber,
      amount,
      reason: 'Returned',
    }
    return { uuid, send: (repeated = false) => refund({ ...payment, repeated }) }
  },
}

const bank = useHttpBank()
const settingsOf = async () => ({ url: bank.url(), secret: bank.secret })
const { submissions: submission, settlements: payout, refunds: refund } = bank.made
const made = { submission, payout, refund }

const names: Name[] = ['sandbox', 'http']
const cases = names.flatMap((name) =>
  (Object.keys(operations) as (keyof typeof operations)[]).flatMap((operation) =>
    (['accept', 'reject'] as const).map((conduct) => [operation, name, conduct] as const),
  ),
)

test.each(cases)(
  'repeated and concurrent requests of a %s by connector %s have one result: %s',
  async (operation, name, conduct) => {
    bank.conducts.splice(0, Number.POSITIVE_INFINITY, conduct)
    const accountNumber = conduct === 'reject' ? '1041000000' : '1041001001'
    const config = configOf({ settingsOf })
    const { uuid, send } = operations[operation](name, config, accountNumber)
    const isSubmission = operation === 'submission'
    const [bankReference, message] = [expect.stringMatching(/./), expect.stringMatching(/./)]
    const accepted = { kind: isSubmission ? 'accepted' : 'paid', bankReference }
    const code = isSubmission ? { code: 'invalid_account' } : {}
    const first = await send()
    expect(first).toEqual(conduct === 'accept' ? accepted : { kind: 'rejected', message, ...code })
    const more = [false, false, true, true].map((repeated) => send(repeated))
    expect(await Promise.all(more)).toEqual([first, first, first, first])
    // The sandbox bank stores nothing.
    const effects = made[operation].filter((one) => one === uuid).length
    expect(effects).toBe(name === 'http' && conduct === 'accept' ? 1 : 0)
  },
)

test('every registered connector is tested', () => {
  const registries = [connectors, payoutConnectors, refundOperations]
  for (const registered of registries.map((open) => open(configOf()))) {
    expect(Object.keys(registered).sort()).toEqual(names.toSorted())
  }
})
