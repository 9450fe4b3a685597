import { describe, expect, test } from 'vitest'
import type { ConnectorConfig } from '../../shared/banks/connector.ts'
import { connectors, payoutConnectors, refundOperations } from '../../shared/banks/registry.ts'
import type { ConnectorName } from '../../shared/domain/banks/bank.ts'
import type { SandboxReport } from '../../shared/domain/banks/sandbox-outcome.ts'
import { type Conduct, useHttpBank } from '../support/http-bank.ts'
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
type Operation = keyof typeof operations

const bank = useHttpBank()
const settingsOf = async () => ({ url: bank.url(), secret: bank.secret })
const made = { submission: bank.debits, payout: bank.payments, refund: bank.refunds }

/** Opens a request that the bank handles so, and counts its effects. */
const harnesses: Record<
  Name,
  (operation: Operation, conduct: Conduct) => Request & { effects: () => number }
> = {
  http: (operation, conduct) => {
    bank.conducts.splice(0, Number.POSITIVE_INFINITY, conduct)
    const config = configOf({ settingsOf, timeoutSeconds: 0.5 })
    const request = operations[operation]('http', config, '1041001001')
    const effects = () => made[operation].filter((uuid) => uuid === request.uuid).length
    return { ...request, effects }
  },
  // The sandbox bank has no connection to lose, and stores nothing but its report.
  sandbox: (operation, conduct) => {
    const references = new Set<string>()
    const reportLater = async ({ reference }: SandboxReport) => void references.add(reference)
    const account = conduct === 'reject' ? '1041000000' : '1041001001'
    const { uuid, send } = operations[operation]('sandbox', configOf({ reportLater }), account)
    const counted = async (repeated?: boolean) => {
      const result = await send(repeated)
      if (result.kind === 'paid') references.add(uuid)
      return result
    }
    return { uuid, send: counted, effects: () => references.size }
  },
}

const names = Object.keys(harnesses) as Name[]
const kinds = Object.keys(operations) as Operation[]

describe.each(names.flatMap((name) => kinds.map((kind) => [kind, name] as const)))(
  'a %s by connector %s',
  (operation, name) => {
    const results = {
      accept: {
        kind: operation === 'submission' ? 'accepted' : 'paid',
        bankReference: expect.stringMatching(/./),
      },
      reject: {
        kind: 'rejected',
        message: expect.stringMatching(/./),
        ...(operation === 'submission' && { code: 'invalid_account' }),
      },
    }

    test.each(['accept', 'reject'] as const)(
      'has one result at repeated and concurrent requests with the treatment %s',
      async (conduct) => {
        const { send, effects } = harnesses[name](operation, conduct)
        const first = await send()
        expect(first).toEqual(results[conduct])
        const more = await Promise.all([false, false, true, true].map(send))
        expect(more).toEqual([first, first, first, first])
        expect(effects()).toBe(conduct === 'accept' ? 1 : 0)
      },
    )
  },
)

test('every registered connector is tested', () => {
  const config = configOf()
  for (const registered of [
    connectors(config),
    payoutConnectors(config),
    refundOperations(config),
  ]) {
    expect(Object.keys(registered).sort()).toEqual([...names].sort())
  }
})
