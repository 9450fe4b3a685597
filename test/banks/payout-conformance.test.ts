import { describe, expect, test } from 'vitest'
import type { Connector } from '../../shared/banks/connector.ts'
import type { PayoutConnector } from '../../shared/banks/payout-connector.ts'
import { payoutConnectors, refundOperations } from '../../shared/banks/registry.ts'
import type { ConnectorName } from '../../shared/domain/banks/bank.ts'
import type { Payout } from '../../shared/domain/settlement/payout.ts'
import { type Conduct, useHttpBank } from '../support/http-bank.ts'
import { accountOf, instructionOf } from './one-payout.ts'
import { wiringOf } from './one-submission.ts'

/** Every bank pays a batch, and refunds a debit, once for a uuid. */

/** How the bank is going to treat an instruction; what it says may be lost in one of the ways. */
type Treatment = 'pays' | 'rejects' | 'takes its time' | { paid: boolean; lost: string }

type Harness = {
  connector: PayoutConnector
  /** An instruction that the bank treats so. */
  facing: (treatment: Treatment) => Payout
  /** How many payments the bank has made of it. */
  payments: (instruction: Payout) => number
  /** The ways in which a result is not known, whether the bank has paid or not. */
  ways: string[]
}

/** A refund has the replies of a payment, so both are tested as payments. */
const refunding = (refund: Connector['refund']): PayoutConnector => ({
  pay: async ({ uuid, account, amount, repeated }) => {
    if (!refund) throw new Error('This bank takes no refunds')
    const { bank, accountNumber } = account
    const reason = 'Goods returned'
    const debit = { debitUuid: uuid, debitBankReference: 'HTB-1', createdAt: new Date(0), reason }
    return refund({ uuid, bank, accountNumber, amount, repeated, ...debit })
  },
})

/** It has no wire: what is lost is lost with the function that asks. */
const sandboxHarness = (operation: Operation): Harness => {
  const sandbox = connectorsOf[operation](wiringOf()).sandbox
  const ending = new Map<string, { paid: boolean }>()
  const paid: { uuid: string; bankReference: string }[] = []
  const accounts = { pays: '1041001001', rejects: '1041000000', 'takes its time': '1041009999' }
  return {
    connector: {
      pay: async (instruction) => {
        const { uuid } = instruction
        const end = ending.get(uuid)
        ending.delete(uuid)
        if (end && !end.paid) throw new Error('The function ends before it asks')
        const result = await sandbox.pay(instruction)
        if (result.kind === 'paid') paid.push({ uuid, bankReference: result.bankReference })
        if (end) throw new Error('The function ends before it is answered')
        return result
      },
    },
    facing: (treatment) => {
      const isLost = typeof treatment === 'object'
      const instruction = instructionOf({
        account: accountOf(accounts[isLost ? 'pays' : treatment]),
      })
      if (isLost) ending.set(instruction.uuid, treatment)
      return instruction
    },
    // The same reference twice is one payment; another one would be two.
    payments: ({ uuid }) =>
      new Set(paid.filter((one) => one.uuid === uuid).map(({ bankReference }) => bankReference))
        .size,
    ways: ['the function ends'],
  }
}

type Wiring = ReturnType<typeof wiringOf>
type ByBank = Record<Exclude<ConnectorName, 'none'>, PayoutConnector>

const connectorsOf = {
  payment: payoutConnectors,
  refund: (wiring: Wiring): ByBank => {
    const { sandbox, http } = refundOperations(wiring)
    return { sandbox: refunding(sandbox), http: refunding(http) }
  },
}
type Operation = keyof typeof connectorsOf

const CONDUCTS = { pays: 'accept', rejects: 'reject', 'takes its time': 'take its time' } as const

/** What comes instead of an answer. */
const WORDS: Record<string, Exclude<Conduct, string>> = {
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
    const words = WORDS[lost]
    if (!words) return paid ? 'accept, then stay silent' : 'stay silent'
    return paid ? { ...words, after: 'accept' } : words
  }
  return {
    connector: connectorsOf[operation](wiringOf({ settingsOf, timeoutSeconds: 0.5 })).http,
    facing: (treatment) => {
      bank.conducts.splice(0, Number.POSITIVE_INFINITY, conductOf(treatment))
      return instructionOf()
    },
    payments: ({ uuid }) =>
      bank[operation === 'payment' ? 'payments' : 'refunds'].filter((one) => one === uuid).length,
    ways: ['silence', ...Object.keys(WORDS)],
  }
}

const harnesses: Record<Exclude<ConnectorName, 'none'>, (operation: Operation) => Harness> = {
  sandbox: sandboxHarness,
  http: httpHarness,
}

const rows = Object.entries(harnesses).flatMap(([name, open]) =>
  (['payment', 'refund'] as const).map((operation) => [operation, name, open] as const),
)

describe.each(rows)('a %s by the connector %s', (operation, _name, open) => {
  const { connector, facing, payments, ways } = open(operation)
  const again = (instruction: Payout) => connector.pay({ ...instruction, repeated: true })
  const paid = { kind: 'paid', bankReference: expect.stringMatching(/./) }

  test('what the bank pays is paid, with the bank’s reference', async () => {
    const instruction = facing('pays')
    expect(await connector.pay(instruction)).toEqual(paid)
    expect(payments(instruction)).toBe(1)
  })

  test('what the bank rejects is rejected, with its words', async () => {
    const instruction = facing('rejects')
    expect(await connector.pay(instruction)).toEqual({
      kind: 'rejected',
      message: expect.stringMatching(/./),
    })
    expect(payments(instruction)).toBe(0)
  })

  test('what takes its time is underway, and paid when it is asked for again', async () => {
    const instruction = facing('takes its time')
    expect(await connector.pay(instruction)).toEqual({ kind: 'underway' })
    expect(payments(instruction)).toBe(0)
    expect(await again(instruction)).toEqual(paid)
    expect(payments(instruction)).toBe(1)
  })

  describe.each(ways)('%s is no answer', (lost) => {
    test.each([
      ['having paid', true, 1],
      ['not having paid', false, 0],
    ])('and the bank, %s, is asked again: one payment', async (_having, isPaid, before) => {
      const instruction = facing({ lost, paid: isPaid })
      await expect(connector.pay(instruction)).rejects.toThrow()
      expect(payments(instruction)).toBe(before)
      const result = await again(instruction)
      expect(result).toEqual(paid)
      expect(await again(instruction)).toEqual(result)
      expect(payments(instruction)).toBe(1)
    })
  })

  test.each(['pays', 'rejects'] as const)(
    'the same instruction again, and twice at once, is answered alike when the bank %s',
    async (treatment) => {
      const instruction = facing(treatment)
      const first = await connector.pay(instruction)
      const more = [false, false, true, true].map((repeated) =>
        connector.pay({ ...instruction, repeated }),
      )
      expect(await Promise.all(more)).toEqual([first, first, first, first])
      expect(payments(instruction)).toBe(treatment === 'pays' ? 1 : 0)
    },
  )
})

test('every registered connector is tested', () => {
  const names = Object.keys(harnesses).sort()
  expect(Object.keys(payoutConnectors(wiringOf())).sort()).toEqual(names)
  expect(Object.keys(refundOperations(wiringOf())).sort()).toEqual(names)
})
