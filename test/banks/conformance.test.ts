import { describe, expect, test } from 'vitest'
import type { Connector } from '../../shared/banks/connector.ts'
import { connectors } from '../../shared/banks/registry.ts'
import type { ConnectorName } from '../../shared/domain/banks/bank.ts'
import type { SandboxReport } from '../../shared/domain/banks/sandbox-outcome.ts'
import type { Submission } from '../../shared/domain/debits/submission.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { type Conduct, useHttpBank } from '../support/http-bank.ts'
import { submissionOf, wiringOf } from './one-submission.ts'

/** What every connector promises, whatever bank is behind it. */

/** How the bank is going to treat a submission. */
type Treatment =
  | 'accepts'
  | 'rejects'
  | 'says nothing'
  | 'accepts, and its answer is lost'
  | 'answers garbage, once'

type Harness = {
  connector: Connector
  /** A submission that the bank treats so. */
  facing: (treatment: Treatment) => Submission
  /** How many debits the bank has begun for it. */
  effects: (submission: Submission) => number
}

/** Its memory is the report that it leaves itself, and what is lost is that report's answer. */
const sandboxHarness = (): Harness => {
  const reports: SandboxReport[] = []
  const lost = new Set<string>()
  const broken = new Set<string>()
  const reportLater = async (report: SandboxReport) => {
    if (broken.delete(report.reference)) throw new Error('The queue answers garbage')
    reports.push(report)
    if (lost.delete(report.reference)) throw new Error('The answer is lost')
  }
  return {
    connector: connectors(wiringOf({ reportLater })).sandbox,
    facing: (treatment) => {
      if (treatment === 'rejects') return submissionOf({ account: undefined })
      if (treatment === 'says nothing') {
        return submissionOf({ phone: '+233242222222' as PhoneNumber })
      }
      const submission = submissionOf()
      if (treatment === 'accepts, and its answer is lost') lost.add(submission.reference)
      if (treatment === 'answers garbage, once') broken.add(submission.reference)
      return submission
    },
    // The same report twice is one outcome, as flows/late-work shows; another one would be two.
    effects: ({ reference }) =>
      new Set(
        reports
          .filter((report) => report.reference === reference && report.outcome !== 'timeout')
          .map(({ outcome }) => outcome),
      ).size,
  }
}

const CONDUCTS: Record<Treatment, Conduct> = {
  accepts: 'accept',
  rejects: 'reject',
  'says nothing': 'stay silent',
  'accepts, and its answer is lost': 'accept, then stay silent',
  'answers garbage, once': { status: 200, body: '<html>Maintenance</html>' },
}

const httpHarness = (): Harness => {
  const bank = useHttpBank()
  const settingsOf = async () => ({ url: bank.url(), secret: bank.secret })
  return {
    connector: connectors(wiringOf({ settingsOf, timeoutSeconds: 0.5 })).http,
    facing: (treatment) => {
      bank.conducts.splice(0, Number.POSITIVE_INFINITY, CONDUCTS[treatment])
      return submissionOf()
    },
    effects: ({ uuid }) => bank.debits.filter((debit) => debit === uuid).length,
  }
}

const harnesses: Record<Exclude<ConnectorName, 'none'>, () => Harness> = {
  sandbox: sandboxHarness,
  http: httpHarness,
}

describe.each(Object.entries(harnesses))('connector %s', (_name, open) => {
  const { connector, facing, effects } = open()
  const accepted = { kind: 'accepted', bankReference: expect.stringMatching(/./) }

  test('a debit that the bank accepts is accepted, with the bank’s reference', async () => {
    const submission = facing('accepts')
    expect(await connector.submit(submission)).toEqual(accepted)
    expect(effects(submission)).toBe(1)
  })

  test('a debit that the bank rejects is rejected, with a published code', async () => {
    const submission = facing('rejects')
    expect(await connector.submit(submission)).toEqual({
      kind: 'rejected',
      code: 'invalid_account',
      message: expect.stringMatching(/./),
    })
    expect(effects(submission)).toBe(0)
  })

  test('silence is no answer: neither accepted nor rejected', async () => {
    const submission = facing('says nothing')
    const result = await connector.submit(submission).catch(() => ({ kind: 'silent' }))
    expect(result).toEqual({ kind: 'silent' })
    expect(effects(submission)).toBe(0)
  })

  test('an answer that was lost after the bank accepted is found, without a second effect', async () => {
    const submission = facing('accepts, and its answer is lost')
    await expect(connector.submit(submission)).rejects.toThrow()
    expect(effects(submission)).toBe(1)
    expect(await connector.submit({ ...submission, repeated: true })).toEqual(accepted)
    expect(effects(submission)).toBe(1)
  })

  test('garbage is no answer, and the next attempt may get one', async () => {
    const submission = facing('answers garbage, once')
    await expect(connector.submit(submission)).rejects.toThrow()
    expect(effects(submission)).toBe(0)
    expect(await connector.submit({ ...submission, repeated: true })).toEqual(accepted)
    expect(effects(submission)).toBe(1)
  })

  test.each(['accepts', 'rejects'] as const)(
    'the same submission again, and twice at once, is answered alike when the bank %s',
    async (treatment) => {
      const submission = facing(treatment)
      const first = await connector.submit(submission)
      const more = [false, false, true, true].map((repeated) =>
        connector.submit({ ...submission, repeated }),
      )
      expect(await Promise.all(more)).toEqual([first, first, first, first])
      expect(effects(submission)).toBe(treatment === 'accepts' ? 1 : 0)
    },
  )
})

test('every registered connector is held to it', () => {
  expect(Object.keys(connectors(wiringOf())).sort()).toEqual(Object.keys(harnesses).sort())
})
