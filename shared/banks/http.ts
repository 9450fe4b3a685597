import * as v from 'valibot'
import type { FailureCode } from '../domain/debit.ts'
import { CURRENCY, formatAmount } from '../domain/money.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Submission, SubmissionResult } from '../domain/submission.ts'
import { text } from '../domain/text.ts'
import { bankUrl } from './bank-url.ts'
import type { Connector, Wiring } from './connector.ts'
import { ConnectorFault } from './connector-fault.ts'
import { type Answer, exchange } from './exchange.ts'

/**
 * A bank with an endpoint of its own that speaks our protocol (docs/bank-protocol.md). Only a
 * well-formed answer says that a debit was accepted or rejected. Everything else is not known: it
 * is asked for when the message comes again, until an answer or the ten-minute clock decides.
 */
export const httpConnector = (wiring: Wiring): Connector => ({
  submit: async (submission) => {
    const ask = await asking(submission, wiring)
    // Unlike a second submission, a question can have no effect, whatever became of the first.
    const earlier = submission.repeated ? await found(ask, submission) : undefined
    return earlier ?? (await submitted(ask, submission))
  },
})

type Ask = (
  method: 'GET' | 'POST',
  path: string,
  more?: { headers: Record<string, string>; body: string },
) => Promise<Answer>

/** What sends to the bank of a submission, as its settings stand now. */
const asking = async ({ bank }: Submission, wiring: Wiring): Promise<Ask> => {
  const settings = await wiring.settingsOf(bank)
  if (!settings) throw new ConnectorFault(2001, `bank ${bank} has no connector settings`)
  const url = bankUrl(settings.url, wiring)
  if (url instanceof Refusal) throw new ConnectorFault(2001, `the URL of bank ${bank} is refused`)
  return (method, path, more) =>
    exchange({
      method,
      url: `${url}${path}`,
      ...more,
      secret: settings.secret,
      at: wiring.now(),
      timeoutSeconds: wiring.exchangeSeconds,
    })
}

/** @returns what the bank answered to an earlier submission, undefined when it had none */
const found = async (ask: Ask, { uuid }: Submission): Promise<SubmissionResult | undefined> => {
  const answer = await ask('GET', `/submissions/${uuid}`)
  return answer.status === 404 ? undefined : resultOf(answer)
}

const submitted = async (ask: Ask, submission: Submission): Promise<SubmissionResult> =>
  resultOf(
    await ask('POST', '/submissions', {
      headers: { 'x-idempotency-key': submission.uuid },
      body: JSON.stringify({
        uuid: submission.uuid,
        reference: submission.reference,
        phone_number: submission.phone,
        account_number: submission.account?.accountNumber,
        amount: formatAmount(submission.amount),
        currency: CURRENCY,
        narration: submission.narration,
        // The debit's own time, so that a repeat has the same bytes.
        timestamp: submission.createdAt.toISOString(),
      }),
    }),
  )

const PUBLISHED = [
  'insufficient_funds',
  'invalid_account',
  'transaction_declined',
  'timeout',
  'network_error',
] as const satisfies FailureCode[]

const BankReference = text({ max: 100 })

/** The only answers there are. Each has its HTTP statuses, so that a proxy's page is none of them. */
const answers = v.variant('status', [
  v.object({ status: v.literal('accepted'), bank_reference: BankReference }),
  v.object({
    status: v.literal('rejected'),
    code: v.pipe(
      v.string(),
      v.transform((code): FailureCode => PUBLISHED.find((one) => one === code) ?? 'unknown_error'),
    ),
    message: text({ max: 200 }),
    bank_reference: v.optional(BankReference),
  }),
])

const STATUSES = { accepted: [200, 202], rejected: [200, 422] }

/** @throws ConnectorFault for whatever is not one of the answers */
const resultOf = ({ status, body }: Answer): SubmissionResult => {
  if (status >= 500) throw new ConnectorFault(2500, `HTTP ${status}`)
  if (![200, 202, 422].includes(status)) throw new ConnectorFault(2001, `HTTP ${status}`)
  const { success, output: answer } = v.safeParse(answers, parsed(body))
  if (!success || !STATUSES[answer.status].includes(status)) {
    throw new ConnectorFault(2002, `HTTP ${status} with an answer that is not in the protocol`)
  }
  if (answer.status === 'accepted') {
    return { kind: 'accepted', bankReference: answer.bank_reference }
  }
  const { code, message, bank_reference } = answer
  return {
    kind: 'rejected',
    code,
    message,
    ...(bank_reference === undefined ? {} : { bankReference: bank_reference }),
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @returns undefined for what is no JSON */
const parsed = (body: Buffer): unknown => {
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    return undefined
  }
}
