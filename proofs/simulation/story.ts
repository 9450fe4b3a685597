import { operations } from '../../shared/api/operations.ts'
import { faults } from './engine/faults.ts'
import type { ApiCall, Observations, Violation } from './engine/observations.ts'
import { invariants } from './invariants/all.ts'
import { membersOf } from './invariants/calls.ts'
import { kindOf } from './invariants/raw-items.ts'
import { uuidOf } from './invariants/time-and-money.ts'
import { simulatedProviders } from './scenario/fixtures.ts'
import type { Scenario } from './scenario/scenario.ts'
import type { DebitScript } from './scenario/script.ts'
import { violationLine } from './terminal.ts'

/** A violation in words: what should hold, the debits, and what happened to them. */

type Entry = { at: number; text: string; isFault: boolean }

const rules = new Map(invariants.map(([number, rule]) => [number, rule]))

const LINES_MAX = 25
const DEBITS_MAX = 3

const secondsIn = (milliseconds: number): string => {
  const [hours = 0, minutes = 0] = [3_600_000, 60_000].map((unit) =>
    Math.floor(milliseconds / unit),
  )
  const seconds = ((milliseconds % 60_000) / 1_000).toFixed(3).padStart(6, '0')
  return `${hours}:${String(minutes % 60).padStart(2, '0')}:${seconds}`
}

const scriptInWords = (script: DebitScript): string => {
  const { number, provider, amount, phone, bank, charge, verdict, reports, manual } = script
  const reported = reports.map(
    ({ status, by, afterSeconds, flaw }) =>
      `reports ${status} by ${by} after ${afterSeconds.toFixed(0)} s${flaw ? ` (flaw: ${flaw})` : ''}`,
  )
  const later = Object.entries({ redelivered: script.redelivered, reversed: script.reversed })
    .flatMap(([what, at]) => (at === undefined ? [] : [`it is ${what} after ${at.toFixed(0)} s`]))
    .concat(
      manual ? `an operator will ${manual.verb} it after ${manual.afterSeconds.toFixed(0)} s` : [],
    )
  const own = charge === 'once' ? '' : ` (${charge})`
  return [
    `debit ${number}: ${simulatedProviders[provider]?.id} charges ${amount}${own} to ${phone} at ${bank}`,
    [
      'the bank',
      verdict === 'accepted' ? ['accepts it', ...reported].join(', ') : 'rejects it',
    ].join(' '),
    ...later,
  ].join('; ')
}

const namesOf = ({ items }: Observations, scripts: readonly DebitScript[]): string[] => {
  const narrations = new Set(scripts.map(({ number }) => `Debit ${number}`))
  const debits = items.filter(({ narration }) => narrations.has(String(narration)))
  return [
    ...scripts.map(({ number }) => `Debit ${number}"`),
    ...debits.flatMap(({ reference, settledIn, adjustedIn }) => [
      String(reference),
      uuidOf(String(reference)),
      ...[settledIn, adjustedIn].flatMap((mark) =>
        mark ? [String(mark).split('#')[0] ?? ''] : [],
      ),
    ]),
  ]
}

const callInWords = ({ name, caller, sent, reply }: ApiCall): string => {
  const { verb, status } = membersOf(sent)
  const what = [name in operations ? '' : 'an operator', caller?.id, 'calls', name, verb ?? status]
  return `${what.filter(Boolean).join(' ')}: ${reply?.status ?? 'no reply'}`
}

const changeInWords = ({ before, after, by }: Observations['changes'][number]): string[] => {
  const kind = after && kindOf(after)
  if (!kind || kind === 'another' || after.status === before?.status) return []
  const what = [kind, after.event, kind === 'batch' && after.id].filter(Boolean).join(' ')
  return [`${what} becomes ${after.status} (written by ${by?.name ?? 'the simulator'})`]
}

const entriesOf = (observations: Observations, names: readonly string[]): Entry[] => {
  const { calls, changes, bankPosts, queries, posts, strikes } = observations
  const isAbout = (...parts: unknown[]): boolean => {
    const text = JSON.stringify(parts)
    return names.some(
      (name) => text.includes(name) || text.includes(JSON.stringify(name).slice(1, -1)),
    )
  }
  const said = (at: number, text: string): Entry => ({ at, text, isFault: false })
  return [
    ...calls
      .filter(({ path, sent, reply }) => isAbout(path, sent, reply?.raw))
      .filter(({ name }) => !/^(?:list-|get-|manage-reconciliation)/.test(name))
      .map((call) => said(call.at, callInWords(call))),
    ...changes
      .filter(({ before, after }) => isAbout((after ?? before)?.pk))
      .flatMap((change) => changeInWords(change).map((text) => said(change.at, text))),
    ...bankPosts
      .filter(({ body, idempotencyKey }) => isAbout(body, idempotencyKey))
      .map(({ at, bank, path, body, verdict }) =>
        said(at, `${bank} receives POST ${path} of ${body.amount}: ${verdict}`),
      ),
    ...queries
      .filter(({ uuid }) => isAbout(uuid))
      .map(({ at, bank, answer }) => said(at, `${bank} is queried: ${answer}`)),
    ...posts
      .filter(({ raw }) => isAbout(raw))
      .map(({ at, headers, code }) =>
        said(at, `the receiver gets ${headers['x-svc-event']}: ${code ?? 'no response'}`),
      ),
    ...strikes.map(({ at, name, by }) => ({
      at,
      text: `FAULT ${name}${by ? ` in ${by}` : ''}: ${faults[name].description}`,
      isFault: true,
    })),
  ].toSorted((one, other) => one.at - other.at)
}

/** Joins repeats, and leaves out the middle of many. */
const shortened = (entries: readonly Entry[]): Entry[] => {
  const lines: Entry[] = []
  for (const entry of entries) {
    const last = lines.at(-1)
    if (last?.text.replace(/ and again$/, '') !== entry.text) lines.push(entry)
    else lines[lines.length - 1] = { ...last, text: `${entry.text} and again` }
  }
  const half = Math.floor(LINES_MAX / 2)
  const rest = lines.splice(half, Math.max(0, lines.length - 2 * half))
  const [first] = rest
  return first ? lines.toSpliced(half, 0, { ...first, text: `... ${rest.length} more` }) : lines
}

/** @returns the lines that a person reads to understand a violation */
export const storyOf = (
  { scripts }: Scenario,
  observations: Observations,
  violations: readonly Violation[],
): string[] => {
  const numbers = new Set(violations.map(({ invariant }) => invariant))
  const chosen = scripts.slice(0, DEBITS_MAX)
  const start = Math.min(...chosen.map(({ at }) => at))
  const all = entriesOf(observations, namesOf(observations, chosen))
  const entries = all.slice(0, all.findLastIndex(({ isFault }) => !isFault) + 1)
  const lastFault = entries.findLast(({ isFault }) => isFault)?.text ?? 'no fault'
  return [
    ...[...numbers].map((number) => `invariant ${number}: ${rules.get(number)}`),
    ...violations.slice(0, 5).map((violation) => `  ${violationLine(violation)}`),
    ...chosen.map(scriptInWords),
    ...(scripts.length > DEBITS_MAX ? [`and ${scripts.length - DEBITS_MAX} other debits`] : []),
    `preceded by ${lastFault}`,
    'timeline (hours, minutes and seconds since the charge):',
    ...shortened(entries).map(({ at, text }) => `  ${secondsIn(Math.max(0, at - start))}  ${text}`),
  ]
}
