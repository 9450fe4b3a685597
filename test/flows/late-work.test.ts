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
import { advance, type Debit, stateAt } from '../../shared/domain/debits/debit.ts'
import { real } from '../../shared/runtime.ts'
import { changeBank } from '../../shared/store/banks/banks.ts'
import { createDebit } from '../../shared/store/debits/charges.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { gcb, NOON, pendingDebit, still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

/** Messages that come late, early or twice: the debit itself says what is still to be done. */

const calls = mockClient(SQSClient)
authorizeCallsOf(SQSClient.prototype)
beforeEach(() => {
  calls.reset()
  calls.onAnyCommand().resolves({})
})

beforeAll(async () => {
  await useFreshTable()
  process.env.QUEUE_URL_SANDBOX_OUTCOMES = 'https://sqs.test/sandbox-outcomes'
  await changeBank(gcb.identifier, () => gcb, noWrites, real)
})

const at = (seconds: number) => still({ now: () => new Date(NOON.getTime() + seconds * 1000) })

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

/** @returns how many messages of one failed */
const run = async (name: JobName, job: Job, body: object): Promise<number> => {
  const { batchItemFailures } = await actingAs(name, () => job(message(name, body), {} as Context))
  return batchItemFailures.length
}

const opened = async (): Promise<Debit> => {
  const debit = pendingDebit()
  await createDebit({ debit, fingerprint: '', dailyLimit: undefined }, still())
  return debit
}

const processing = async (): Promise<Debit> => {
  const debit = await opened()
  const cause = { at: NOON, by: 'bank:GCB', requestId: 'r' }
  const move = (now: Debit) => advance(now, { ...cause, to: 'processing', changes: {} })
  return (await transition(debit, move, still())) as Debit
}

const now = async ({ facts }: Debit) => {
  const debit = (await findDebit(facts.reference)) as Debit
  const { status, errorMessage, errorCode } = stateAt(debit)
  return { status, errorMessage, errorCode, events: debit.history.length }
}

describe('submit-to-bank', () => {
  test('a submission that comes twice is made once', async () => {
    const debit = await opened()
    const { reference } = debit.facts
    for (let n = 0; n < 2; n += 1)
      expect(await run('submit-to-bank', submitToBank(at(1)), { reference })).toBe(0)
    expect(await now(debit)).toMatchObject({ status: 'processing', events: 3 })
    expect(calls.calls()).toHaveLength(1)
  })

  test('a debit whose ten minutes have run out is not handed to a bank any more', async () => {
    const debit = await opened()
    await run('submit-to-bank', submitToBank(at(600)), { reference: debit.facts.reference })
    expect(await now(debit)).toMatchObject({
      status: 'failed',
      errorMessage: 'Bank processing timeout',
      errorCode: 'timeout',
    })
    expect(calls.calls()).toHaveLength(0)
  })
})

describe('expire-debit', () => {
  test('a timer that fires early comes again, and on time or late it fails the debit, once', async () => {
    const debit = await processing()
    const about = { reference: debit.facts.reference, phase: 'approval' }
    expect(await run('expire-debit', expireDebit(at(299.9)), about)).toBe(1)
    expect(await now(debit)).toMatchObject({ status: 'processing' })
    for (const seconds of [300.1, 359])
      expect(await run('expire-debit', expireDebit(at(seconds)), about)).toBe(0)
    expect(await now(debit)).toMatchObject({
      status: 'failed',
      errorMessage: 'Transaction timeout',
      events: 4,
    })
  })

  test('a timer that fires after the bank reported does nothing', async () => {
    const debit = await processing()
    const { reference } = debit.facts
    await run('report-sandbox-outcome', reportSandboxOutcome(at(30)), {
      reference,
      outcome: 'completed',
    })
    for (const phase of ['approval', 'processing']) {
      expect(await run('expire-debit', expireDebit(at(700)), { reference, phase })).toBe(0)
    }
    expect(await now(debit)).toMatchObject({ status: 'completed', events: 4 })
  })

  test('a pending debit has no five-minute clock', async () => {
    const debit = await opened()
    const about = { reference: debit.facts.reference, phase: 'approval' }
    expect(await run('expire-debit', expireDebit(at(400)), about)).toBe(0)
    expect(await now(debit)).toMatchObject({ status: 'pending' })
  })
})

describe('report-sandbox-outcome', () => {
  test('a report that comes before the submission is on record comes again', async () => {
    const debit = await opened()
    const { reference } = debit.facts
    expect(
      await run('report-sandbox-outcome', reportSandboxOutcome(at(1)), {
        reference,
        outcome: 'completed',
      }),
    ).toBe(1)
    expect(await now(debit)).toMatchObject({ status: 'pending' })
  })

  test('a report that comes twice changes nothing the second time', async () => {
    const debit = await processing()
    const about = { reference: debit.facts.reference, outcome: 'insufficient_funds' }
    for (let n = 0; n < 2; n += 1)
      expect(await run('report-sandbox-outcome', reportSandboxOutcome(at(30)), about)).toBe(0)
    expect(await now(debit)).toMatchObject({
      status: 'failed',
      errorCode: 'insufficient_funds',
      events: 4,
    })
  })
})

describe('deliver-webhook', () => {
  test('a provider without a webhook is owed nothing; an event of no debit helps nobody again', async () => {
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
