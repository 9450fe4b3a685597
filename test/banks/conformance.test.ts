import { describe, expect, test } from 'vitest'
import type { Connector } from '../../shared/banks/connector.ts'
import { connectors } from '../../shared/banks/registry.ts'
import type { ConnectorName } from '../../shared/domain/banks/bank.ts'
import type { SandboxReport } from '../../shared/domain/banks/sandbox-outcome.ts'
import type { Submission } from '../../shared/domain/debits/submission.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { type Conduct, useHttpBank } from '../support/http-bank.ts'
import { configOf, submissionOf } from './examples.ts'

type Treatment =
  | 'accepts'
  | 'rejects'
  | 'does not respond'
  | 'accepts, and the response is lost'
  | 'responds with garbage once'

type Harness = {
  connector: Connector
  /** Returns a submission that the bank will treat so. */
  submissionFor: (treatment: Treatment) => Submission
  /** Counts the debits that the bank has begun for a submission. */
  effects: (submission: Submission) => number
}

/** The sandbox bank only stores its report; the response that is lost is that of the queue. */
const sandboxHarness = (): Harness => {
  const reports: SandboxReport[] = []
  const lost = new Set<string>()
  const broken = new Set<string>()
  const reportLater = async (report: SandboxReport) => {
    if (broken.delete(report.reference)) throw new Error('The queue responds with garbage')
    reports.push(report)
    if (lost.delete(report.reference)) throw new Error('The response is lost')
  }
  return {
    connector: connectors(configOf({ reportLater })).sandbox,
    submissionFor: (treatment) => {
      if (treatment === 'rejects') return submissionOf({ account: undefined })
      if (treatment === 'does not respond') {
        return submissionOf({ phone: '+233242222222' as PhoneNumber })
      }
      const submission = submissionOf()
      if (treatment === 'accepts, and the response is lost') lost.add(submission.reference)
      if (treatment === 'responds with garbage once') broken.add(submission.reference)
      return submission
    },
    // A duplicate of the same report has no second effect (flows/late-work).
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
  'does not respond': 'stay silent',
  'accepts, and the response is lost': 'accept, then stay silent',
  'responds with garbage once': { status: 200, body: '<html>Maintenance</html>' },
}

const httpHarness = (): Harness => {
  const bank = useHttpBank()
  const settingsOf = async () => ({ url: bank.url(), secret: bank.secret })
  return {
    connector: connectors(configOf({ settingsOf, timeoutSeconds: 0.5 })).http,
    submissionFor: (treatment) => {
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
  const { connector, submissionFor, effects } = open()
  const accepted = { kind: 'accepted', bankReference: expect.stringMatching(/./) }

  test('an accepted debit has the bank’s reference', async () => {
    const submission = submissionFor('accepts')
    expect(await connector.submit(submission)).toEqual(accepted)
    expect(effects(submission)).toBe(1)
  })

  test('a rejected debit has a published code', async () => {
    const submission = submissionFor('rejects')
    expect(await connector.submit(submission)).toEqual({
      kind: 'rejected',
      code: 'invalid_account',
      message: expect.stringMatching(/./),
    })
    expect(effects(submission)).toBe(0)
  })

  test('a debit without a response is neither accepted nor rejected', async () => {
    const submission = submissionFor('does not respond')
    const result = await connector.submit(submission).catch(() => ({ kind: 'silent' }))
    expect(result).toEqual({ kind: 'silent' })
    expect(effects(submission)).toBe(0)
  })

  test('a repeat after a lost response finds the accepted debit and has no second effect', async () => {
    const submission = submissionFor('accepts, and the response is lost')
    await expect(connector.submit(submission)).rejects.toThrow()
    expect(effects(submission)).toBe(1)
    expect(await connector.submit({ ...submission, repeated: true })).toEqual(accepted)
    expect(effects(submission)).toBe(1)
  })

  test('a repeat after garbage is accepted once', async () => {
    const submission = submissionFor('responds with garbage once')
    await expect(connector.submit(submission)).rejects.toThrow()
    expect(effects(submission)).toBe(0)
    expect(await connector.submit({ ...submission, repeated: true })).toEqual(accepted)
    expect(effects(submission)).toBe(1)
  })

  const treatments = ['accepts', 'rejects'] as const
  test.each(treatments)(
    'repeated and concurrent submissions have one result if the bank %s',
    async (treatment) => {
      const submission = submissionFor(treatment)
      const first = await connector.submit(submission)
      const more = [false, false, true, true].map((repeated) =>
        connector.submit({ ...submission, repeated }),
      )
      expect(await Promise.all(more)).toEqual([first, first, first, first])
      expect(effects(submission)).toBe(treatment === 'accepts' ? 1 : 0)
    },
  )
})

test('every registered connector is tested', () => {
  expect(Object.keys(connectors(configOf())).sort()).toEqual(Object.keys(harnesses).sort())
})
