import { SQSClient } from '@aws-sdk/client-sqs'
import type { Context, SQSEvent } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deliverWebhook } from '../../functions/jobs/deliver-webhook.ts'
import { expireDebit } from '../../functions/jobs/expire-debit.ts'
import { reportSandboxOutcome } from '../../functions/jobs/report-sandbox-outcome.ts'
import { submitToBank } from '../../functions/jobs/submit-to-bank.ts'
import { type JobName, jobRow } from '../../infra/definitions/jobs.ts'
import { actingAs, authorizeCallsOf } from '../../sandbox/authorizer.ts'
import { type Debit, stateAt } from '../../shared/domain/debits/debit.ts'
import { createDebit } from '../../shared/store/debits/charges.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { bankMove, gcb, inSeconds, pendingDebit, still } from '../support/examples.ts'
import { storeBank } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'

/** Messages that arrive late, early or twice: each job decides by the state of the debit. */

const calls = mockClient(SQSClient)
authorizeCallsOf(SQSClient.prototype)
beforeEach(() => {
  calls.reset()
  calls.onAnyCommand().resolves({})
})

beforeAll(async () => {
  await useFreshTable()
  process.env.QUEUE_URL_SANDBOX_OUTCOMES = 'https://sqs.test/sandbox-outcomes'
  await storeBank(gcb)
})

const at = (seconds: number) => still({ now: () => inSeconds(seconds) })

const queueOf = (name: JobName): string => {
  const { from } = jobRow(name)
  return 'queues' in from ? (from.queues[0] ?? '') : ''
}

const message = (name: JobName, body: object): SQSEvent =>
  ({
    Records: [
      {
        messageId: 'message-1',
        body: JSON.stringify(body),
        eventSource: 'aws:sqs',
        eventSourceARN: `arn:aws:sqs:eu-west-1:000000000000:${queueOf(name)}`,
        attributes: { ApproximateReceiveCount: '1' },
      },
    ],
  }) as unknown as SQSEvent

type Job = (event: SQSEvent, context: Context) => Promise<{ batchItemFailures: object[] }>

/** Runs a job with one message and returns the number of failures. */
const run = async (name: JobName, job: Job, body: object): Promise<number> => {
  const { batchItemFailures } = await actingAs(name, () => job(message(name, body), {} as Context))
  return batchItemFailures.length
}

const opened = async (): Promise<Debit> => {
  const debit = pendingDebit()
  await createDebit({ debit, fingerprint: '', dailyLimit: undefined }, still())
  return debit
}

const processing = async (): Promise<Debit> =>
  (await transition(await opened(), bankMove('processing'), still())) as Debit

const stateOf = async ({ facts }: Debit) => {
  const debit = (await findDebit(facts.reference)) as Debit
  const { status, errorMessage, errorCode } = stateAt(debit)
  return { status, errorMessage, errorCode, events: debit.history.length }
}

describe('submit-to-bank', () => {
  test('submits a debit once for a duplicate message', async () => {
    const debit = await opened()
    const { reference } = debit.facts
    for (const _ of [1, 2])
      expect(await run('submit-to-bank', submitToBank(at(1)), { reference })).toBe(0)
    expect(await stateOf(debit)).toMatchObject({ status: 'processing', events: 3 })
    expect(calls.calls()).toHaveLength(1)
  })

  test('fails a debit after its ten minutes without a submission', async () => {
    const debit = await opened()
    await run('submit-to-bank', submitToBank(at(600)), { reference: debit.facts.reference })
    expect(await stateOf(debit)).toMatchObject({
      status: 'failed',
      errorMessage: 'Bank processing timeout',
      errorCode: 'timeout',
    })
    expect(calls.calls()).toHaveLength(0)
  })
})

describe('expire-debit', () => {
  test('retries an early timer and fails the debit once on a punctual or late one', async () => {
    const debit = await processing()
    const about = { reference: debit.facts.reference, phase: 'approval' }
    expect(await run('expire-debit', expireDebit(at(299.9)), about)).toBe(1)
    expect(await stateOf(debit)).toMatchObject({ status: 'processing' })
    for (const seconds of [300.1, 359])
      expect(await run('expire-debit', expireDebit(at(seconds)), about)).toBe(0)
    expect(await stateOf(debit)).toMatchObject({
      status: 'failed',
      errorMessage: 'Transaction timeout',
      events: 4,
    })
  })

  test('does nothing after the report of the bank', async () => {
    const debit = await processing()
    const { reference } = debit.facts
    await run('report-sandbox-outcome', reportSandboxOutcome(at(30)), {
      reference,
      outcome: 'completed',
    })
    for (const phase of ['approval', 'processing']) {
      expect(await run('expire-debit', expireDebit(at(700)), { reference, phase })).toBe(0)
    }
    expect(await stateOf(debit)).toMatchObject({ status: 'completed', events: 4 })
  })

  test('does not apply the five-minute timeout to a pending debit', async () => {
    const debit = await opened()
    const about = { reference: debit.facts.reference, phase: 'approval' }
    expect(await run('expire-debit', expireDebit(at(400)), about)).toBe(0)
    expect(await stateOf(debit)).toMatchObject({ status: 'pending' })
  })
})

describe('report-sandbox-outcome', () => {
  test('retries a report that arrives before the submission is recorded', async () => {
    const debit = await opened()
    const { reference } = debit.facts
    expect(
      await run('report-sandbox-outcome', reportSandboxOutcome(at(1)), {
        reference,
        outcome: 'completed',
      }),
    ).toBe(1)
    expect(await stateOf(debit)).toMatchObject({ status: 'pending' })
  })

  test('changes nothing for a duplicate report', async () => {
    const debit = await processing()
    const about = { reference: debit.facts.reference, outcome: 'insufficient_funds' }
    for (const _ of [1, 2])
      expect(await run('report-sandbox-outcome', reportSandboxOutcome(at(30)), about)).toBe(0)
    expect(await stateOf(debit)).toMatchObject({
      status: 'failed',
      errorCode: 'insufficient_funds',
      events: 4,
    })
  })
})

describe('deliver-webhook', () => {
  test('drops events of providers without a webhook and of unknown debits', async () => {
    const { reference } = (await opened()).facts
    expect(
      await run('deliver-webhook', deliverWebhook(still()), {
        reference,
        n: 0,
        attempt: 1,
        through: 1,
      }),
    ).toBe(0)
    const unknown = { reference: 'DCS-20200101-AAAAAA', n: 0, attempt: 1 }
    expect(await run('deliver-webhook', deliverWebhook(still()), unknown)).toBe(0)
  })
})
