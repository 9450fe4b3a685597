import { describe, expect, test } from 'vitest'
import type { Connector, PayoutConnector } from '../../shared/banks/connector.ts'
import { payoutConnectors, refundOperations } from '../../shared/banks/registry.ts'
import type { ConnectorName } from '../../shared/domain/banks/bank.ts'
import type { Payout } from '../../shared/domain/settlement/payout.ts'
import { type Conduct, useHttpBank } from '../support/http-bank.ts'
import { accountOf, configOf, payoutOf } from './examples.ts'

/** `lost` names a way in which the response is lost. */
type Treatment = 'pays' | 'rejects' | 'pays later' | { paid: boolean; lost: string }

type Harness = {
  connector: PayoutConnector
  /** Returns a payout that the bank will treat so. */
  payoutFor: (treatment: Treatment) => Payout
  /** Counts the payments that the bank has made for a payout. */
  payments: (payout: Payout) => number
  /** The ways in which a response can be lost. */
  ways: string[]
}

/** Tests a refund as a payout: they have the same responses. */
const refundAsPayout = (refund: Connector['refund']): PayoutConnector => ({
  pay: async ({ uuid, account, amount, repeated }) => {
    if (!refund) throw new Error('This bank takes no refunds')
    const { bank, accountNumber } = account
    const reason = 'Goods returned'
    const debit = { debitUuid: uuid, debitBankReference: 'HTB-1', createdAt: new Date(0), reason }
    return refund({ uuid, bank, accountNumber, amount, repeated, ...debit })
  },
})

/** The sandbox bank has no connection to lose: the function that calls it crashes instead. */
const sandboxHarness = (operation: Operation): Harness => {
  const sandbox = connectorsOf[operation](configOf()).sandbox
  const crashes = new Map<string, { paid: boolean }>()
  const paid: { uuid: string; bankReference: string }[] = []
  const accounts = { pays: '1041001001', rejects: '1041000000', 'pays later': '1041009999' }
  return {
    connector: {
      pay: async (payout) => {
        const { uuid } = payout
        const crash = crashes.get(uuid)
        crashes.delete(uuid)
        if (crash && !crash.paid) throw new Error('Crash before the request')
        const result = await sandbox.pay(payout)
        if (result.kind === 'paid') paid.push({ uuid, bankReference: result.bankReference })
        if (crash) throw new Error('Crash before the response')
        return result
      },
    },
    payoutFor: (treatment) => {
      const isLost = typeof treatment === 'object'
      const payout = payoutOf({ account: accountOf(accounts[isLost ? 'pays' : treatment]) })
      if (isLost) crashes.set(payout.uuid, treatment)
      return payout
    },
    payments: ({ uuid }) => {
      const own = paid.filter((payment) => payment.uuid === uuid)
      return new Set(own.map(({ bankReference }) => bankReference)).size
    },
    ways: ['a crash'],
  }
}

type ByBank = Record<Exclude<ConnectorName, 'none'>, PayoutConnector>

const connectorsOf = {
  payment: payoutConnectors,
  refund: (config: ReturnType<typeof configOf>): ByBank => {
    const { sandbox, http } = refundOperations(config)
    return { sandbox: refundAsPayout(sandbox), http: refundAsPayout(http) }
  },
}
type Operation = keyof typeof connectorsOf

const CONDUCTS = { pays: 'accept', rejects: 'reject', 'pays later': 'take its time' } as const

/** Responses of intermediaries. */
const RESPONSES: Record<string, Exclude<Conduct, string>> = {
  garbage: { status: 200, body: '<html>Maintenance</html>' },
  'another protocol': { status: 200, body: '{"success":true,"bank_reference":"HTB-1"}' },
  nothing: { status: 204, body: '' },
  'HTTP 404': { status: 404, body: '' },
  'HTTP 409': { status: 409, body: '{"status":"paid","bank_reference":"HTB-1"}' },
  'HTTP 500': { status: 500, body: '{"status":"rejected","message":"Down"}' },
  'HTTP 504': { status: 504, body: 'upstream timed out' },
  'a redirect': { status: 307, body: '', headers: { location: '/debits/elsewhere' } },
}

const httpHarness = (operation: Operation): Harness => {
  const bank = useHttpBank()
  const settingsOf = async () => ({ url: bank.url(), secret: bank.secret })
  const conductOf = (treatment: Treatment): Conduct => {
    if (typeof treatment === 'string') return CONDUCTS[treatment]
    const { lost, paid } = treatment
    const response = RESPONSES[lost]
    if (!response) return paid ? 'accept, then stay silent' : 'stay silent'
    return paid ? { ...response, after: 'accept' } : response
  }
  return {
    connector: connectorsOf[operation](configOf({ settingsOf, timeoutSeconds: 0.5 })).http,
    payoutFor: (treatment) => {
      bank.conducts.splice(0, Number.POSITIVE_INFINITY, conductOf(treatment))
      return payoutOf()
    },
    payments: ({ uuid }) =>
      bank[operation === 'payment' ? 'payments' : 'refunds'].filter((one) => one === uuid).length,
    ways: ['silence', ...Object.keys(RESPONSES)],
  }
}

const harnesses: Record<Exclude<ConnectorName, 'none'>, (operation: Operation) => Harness> = {
  sandbox: sandboxHarness,
  http: httpHarness,
}

const rows = Object.entries(harnesses).flatMap(([name, open]) =>
  (['payment', 'refund'] as const).map((operation) => [operation, name, open] as const),
)

describe.each(rows)('a %s by connector %s', (operation, _name, open) => {
  const { connector, payoutFor, payments, ways } = open(operation)
  const repeat = (payout: Payout) => connector.pay({ ...payout, repeated: true })
  const paid = { kind: 'paid', bankReference: expect.stringMatching(/./) }

  test('is paid with the bank’s reference', async () => {
    const payout = payoutFor('pays')
    expect(await connector.pay(payout)).toEqual(paid)
    expect(payments(payout)).toBe(1)
  })

  test('is rejected with the bank’s message', async () => {
    const payout = payoutFor('rejects')
    expect(await connector.pay(payout)).toEqual({
      kind: 'rejected',
      message: expect.stringMatching(/./),
    })
    expect(payments(payout)).toBe(0)
  })

  test('is underway at first and paid at a repeat', async () => {
    const payout = payoutFor('pays later')
    expect(await connector.pay(payout)).toEqual({ kind: 'underway' })
    expect(payments(payout)).toBe(0)
    expect(await repeat(payout)).toEqual(paid)
    expect(payments(payout)).toBe(1)
  })

  describe.each(ways)('with %s instead of a response', (lost) => {
    test.each([
      ['after the payment', true, 1],
      ['before the payment', false, 0],
    ])('%s is repeated and paid once', async (_, isPaid, paidBefore) => {
      const payout = payoutFor({ lost, paid: isPaid })
      await expect(connector.pay(payout)).rejects.toThrow()
      expect(payments(payout)).toBe(paidBefore)
      const result = await repeat(payout)
      expect(result).toEqual(paid)
      expect(await repeat(payout)).toEqual(result)
      expect(payments(payout)).toBe(1)
    })
  })

  const treatments = ['pays', 'rejects'] as const
  test.each(treatments)(
    'has one result at repeated and concurrent requests if the bank %s',
    async (treatment) => {
      const payout = payoutFor(treatment)
      const first = await connector.pay(payout)
      const more = [false, false, true, true].map((repeated) =>
        connector.pay({ ...payout, repeated }),
      )
      expect(await Promise.all(more)).toEqual([first, first, first, first])
      expect(payments(payout)).toBe(treatment === 'pays' ? 1 : 0)
    },
  )
})

test('every registered connector is tested', () => {
  const names = Object.keys(harnesses).sort()
  expect(Object.keys(payoutConnectors(configOf())).sort()).toEqual(names)
  expect(Object.keys(refundOperations(configOf())).sort()).toEqual(names)
})
