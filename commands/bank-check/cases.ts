import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { ConnectorFault } from '../../shared/banks/connector.ts'
import { UNKNOWN } from '../../shared/banks/http.ts'
import { accountReply } from '../../shared/banks/replies.ts'
import { parseBody, wrongMembers } from '../../shared/banks/response.ts'
import type { Uuid } from '../../shared/domain/ids.ts'
import { Mismatch } from '../expect.ts'
import {
  type BankClient,
  type BankReply,
  bankClient,
  type CheckedBank,
  type Forgery,
  type Order,
  type OrderKind,
} from './requests.ts'

/** Cases that check a bank against its protocol (docs/bank-protocol.md). */

export type CaseResult = { name: string; problem: string | undefined }

type BankCase = { name: string; run: () => Promise<void> }

const REPLY_SECONDS = 2
const REPLY_MAX_BYTES = 16 * 1024
const CONCURRENT_REQUESTS = 5
/** Seconds; twice the tolerance, so that a clock that is a minute off changes no result. */
const CLOCK_OFFSET = 600
/** Pesewas. */
const AMOUNTS = [1_00, 999_99, 10_000_00]

const isSame = (first: BankReply, later: BankReply): boolean =>
  first.status === later.status && isDeepStrictEqual(first.result, later.result)

const expectSame = (first: BankReply, later: BankReply): void => {
  if (!isSame(first, later)) throw new Mismatch(first.text, later.text)
}

/** Expects the first reply, or the outcome of a request whose first reply had none. */
const expectCurrent = (first: BankReply, later: BankReply): void => {
  const isOutcome =
    first.status === 'underway' ||
    (first.status === 'accepted' && ['completed', 'failed'].includes(later.status))
  if (!isOutcome) expectSame(first, later)
}

const expectReceived = (reply: BankReply | undefined): BankReply => {
  if (!reply) throw new Mismatch('a reply to the query', 'HTTP 404')
  return reply
}

const expectUnknown = async (bank: BankClient, order: Order): Promise<void> => {
  const reply = await bank.query(order)
  if (reply) throw new Mismatch('HTTP 404 to the query', reply.text)
}

const forgeries: Record<string, Forgery | ((order: Order) => Forgery)> = {
  'wrong-signature': { signingSecret: 'another secret' },
  'missing-signature': { isUnsigned: true },
  'signature-of-another-body': ({ body }) => ({
    signedBody: JSON.stringify({ ...body, amount: '1.00' }),
  }),
  'signature-of-another-path': { signedPath: '/another' },
  'old-timestamp': { secondsOff: -CLOCK_OFFSET },
  'future-timestamp': { secondsOff: CLOCK_OFFSET },
}

const submissionCases = (bank: BankClient): Record<string, () => Promise<void>> => ({
  // By this query the service finds that a bank is up again.
  'query-while-down': async () =>
    expectUnknown(bank, { ...(await bank.newOrder('submission')), uuid: UNKNOWN as Uuid }),
  'repeat-with-another-account': async () => {
    const order = await bank.newOrder('submission')
    const first = await bank.post(order)
    const body = { ...order.body, account_number: '9990009990' }
    expectSame(first, await bank.post({ ...order, body }))
  },
})

const casesOf = (kind: OrderKind, bank: BankClient): BankCase[] => {
  // A repeated submission gets the first reply, a repeated payment the current one.
  const expectRepeat = kind === 'submission' ? expectSame : expectCurrent

  const inReplies = async (check: (reply: { status: number; body: Buffer }) => void) => {
    const order = await bank.newOrder(kind)
    for (const method of ['POST', 'GET'] as const) check(await bank.sendRaw(method, order))
  }

  const cases: Record<string, () => Promise<void>> = {
    'query-before': async () => expectUnknown(bank, await bank.newOrder(kind)),
    reply: async () => {
      await bank.post(await bank.newOrder(kind))
    },
    'query-after': async () => {
      const order = await bank.newOrder(kind)
      const first = await bank.post(order)
      expectCurrent(first, expectReceived(await bank.query(order)))
    },
    repeat: async () => {
      const order = await bank.newOrder(kind)
      const first = await bank.post(order)
      expectRepeat(first, await bank.post(order))
    },
    'concurrent-repeats': async () => {
      const order = await bank.newOrder(kind)
      const posts = Array.from({ length: CONCURRENT_REQUESTS }, () => bank.post(order))
      const replies = (await Promise.all(posts)).filter(({ status }) => status !== 'underway')
      for (const reply of replies) expectSame(replies[0] ?? reply, reply)
    },
    ...(kind === 'submission' && submissionCases(bank)),
    'unknown-members': async () => {
      const order = await bank.newOrder(kind)
      await bank.post({ ...order, body: { ...order.body, added_later: { name: 'Member' } } })
    },
    'early-close': async () => {
      const order = await bank.newOrder(kind)
      await bank.postAndClose(order)
      const found = await bank.query(order)
      const first = await bank.post(order)
      expectRepeat(first, await bank.post(order))
      if (!found) return
      // The first reply to a submission never changes; that to a payment can have become final.
      if (kind === 'submission') expectCurrent(first, found)
      else expectCurrent(found, first)
    },
    amounts: async () => {
      for (const amount of AMOUNTS) await bank.post(await bank.newOrder(kind, amount))
    },
    'no-redirect': () =>
      inReplies(({ status }) => {
        if (status >= 300 && status < 400) throw new Mismatch('no redirect', `HTTP ${status}`)
      }),
    'reply-size': () =>
      inReplies(({ body: { length } }) => {
        if (length > REPLY_MAX_BYTES) throw new Mismatch('at most 16 KiB', `${length} bytes`)
      }),
  }
  const all = { ...cases, ...forgeryCases(kind, bank) }
  return Object.entries(all).map(([name, run]) => ({ name: `${kind}-${name}`, run }))
}

const expectRefusal = async (
  bank: BankClient,
  method: 'GET' | 'POST',
  order: Order,
  forgery: Forgery,
) => {
  const response = await bank.sendRaw(method, order, forgery)
  const { status, body } = response
  const isRefused = bank.replyIn(order, response) instanceof ConnectorFault
  if (status < 400 || status > 499 || !isRefused)
    throw new Mismatch('HTTP 4xx without a reply of the protocol', `HTTP ${status} ${body}`)
}

const forgeryCases = (kind: OrderKind, bank: BankClient): Record<string, () => Promise<void>> => ({
  'query-with-wrong-signature': async () => {
    const order = await bank.newOrder(kind)
    await bank.post(order)
    await expectRefusal(bank, 'GET', order, { signingSecret: 'another secret' })
  },
  ...Object.fromEntries(
    Object.entries(forgeries).map(([name, forgery]) => [
      name,
      async () => {
        const order = await bank.newOrder(kind)
        const made = typeof forgery === 'function' ? forgery(order) : forgery
        await expectRefusal(bank, 'POST', order, made)
        await expectUnknown(bank, order)
      },
    ]),
  ),
})

/** A number that no bank should know. */
const UNKNOWN_NUMBER = '+233200000000'

const accountCases = (bank: BankClient, phone: string): BankCase[] => [
  {
    name: 'account-of-a-number',
    run: async () => {
      const { status, body } = await bank.askAccount(phone)
      const { success, issues = [] } = v.safeParse(accountReply, parseBody(body))
      if (status === 200 && success) return
      const wrong = status === 200 ? ` with ${wrongMembers(issues)}:` : ''
      throw new Mismatch('HTTP 200 with an account', `HTTP ${status}${wrong} ${body}`)
    },
  },
  {
    name: 'account-of-an-unknown-number',
    run: async () => {
      const { status } = await bank.askAccount(UNKNOWN_NUMBER)
      if (status !== 404) throw new Mismatch('HTTP 404', `HTTP ${status}`)
    },
  },
  {
    name: 'account-with-wrong-signature',
    run: async () => {
      const { status } = await bank.askAccount(phone, 'another secret')
      if (status < 400 || status > 499 || status === 404)
        throw new Mismatch('HTTP 401', `HTTP ${status}`)
    },
  },
]

const resultOf = async ({ name, run }: BankCase): Promise<CaseResult> => {
  try {
    await run()
    return { name, problem: undefined }
  } catch (error) {
    if (error instanceof Mismatch) return { name, problem: error.message }
    throw error
  }
}

/** Yields the result of each case. Stops after the first if the bank does not reply. */
export async function* checkBank(
  target: CheckedBank,
  kinds: readonly OrderKind[],
): AsyncGenerator<CaseResult> {
  const bank = bankClient(target)
  const reachable = await resultOf({
    name: 'reachable',
    run: async () => {
      await bank.sendRaw('GET', await bank.newOrder('submission'))
    },
  })
  yield reachable
  if (reachable.problem) return
  for (const kind of kinds) for (const each of casesOf(kind, bank)) yield resultOf(each)
  if (target.phone) {
    for (const each of accountCases(bank, target.phone)) yield resultOf(each)
  }
  yield resultOf({
    name: 'reply-times',
    run: async () => {
      const { request, seconds } = bank.slowest
      if (seconds > REPLY_SECONDS)
        throw new Mismatch('each reply within 2 s', `${request} after ${seconds.toFixed(1)} s`)
    },
  })
}
