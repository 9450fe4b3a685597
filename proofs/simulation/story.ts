import { operations } from '../../shared/api/operations.ts'
import { faults } from './engine/faults.ts'
import type { ApiCall, Observations, Violation } from './engine/observations.ts'
import { invariants } from './invariants/all.ts'
import { membersOf } from './invariants/calls.ts'
import { kindOf } from './invariants/raw-items.ts'
import { HOUR_MS, uuidOf } from './invariants/time-and-money.ts'
import { simulatedProviders } from './scenario/fixtures.ts'
import type { Scenario } from './scenario/scenario.ts'
import type { DebitScript } from './scenario/script.ts'
import { violationLine } from './terminal.ts'

/** A violation in words: what should hold, the debits, and what happened to them. */

/** `about`: what names its debit; undefined for what concerns all. */
type Entry = { at: number; text: string; about?: unknown; isFault?: boolean }

const rules = new Map(invariants.map(([number, rule]) => [number, rule]))

const LINES_MAX = 25
const DEBITS_MAX = 3

const secondsIn = (milliseconds: number): string =>
  `${Math.floor(milliseconds / HOUR_MS)}:${new Date(milliseconds).toISOString().slice(14, 23)}`

const scriptInWords = (script: DebitScript): string => {
  const { number, provider, amount, phone, bank, charge, verdict, manual } = script
  const reports = script.reports.map(
    ({ status, by, afterSeconds, flaw }) =>
      `reports ${status} by ${by} after ${afterSeconds.toFixed(0)} s${flaw ? ` (flaw: ${flaw})` : ''}`,
  )
  const later = Object.entries({
    redelivered: script.redelivered,
    reversed: script.reversed,
    [`recorded by an operator, who will ${manual?.verb} it,`]: manual?.afterSeconds,
  }).flatMap(([what, at]) => (at === undefined ? [] : [`it is ${what} after ${at.toFixed(0)} s`]))
  const own = charge === 'once' ? '' : ` (${charge})`
  return [
    `debit ${number}: ${simulatedProviders[provider]?.id} charges ${amount}${own} to ${phone} at ${bank}`,
    verdict === 'accepted' ? ['the bank accepts it', ...reports].join(', ') : 'the bank rejects it',
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

/** Returns what happened, in order, besides reads. */
const entriesIn = ({ calls, changes, ...seen }: Observations): Entry[] =>
  [
    ...calls
      .filter(({ name }) => !/^(?:list-|get-|manage-reconciliation)/.test(name))
      .map((call) => {
        const about = [call.path, call.sent, call.reply?.raw]
        return { at: call.at, about, text: callInWords(call) }
      }),
    ...changes.flatMap((change) => {
      const about = [(change.after ?? change.before)?.pk]
      return changeInWords(change).map((text) => ({ at: change.at, about, text }))
    }),
    ...seen.bankPosts.map(({ at, bank, path, body, idempotencyKey, verdict }) => ({
      ...{ at, about: [body, idempotencyKey] },
      text: `${bank} receives POST ${path} of ${body.amount}: ${verdict}`,
    })),
    ...seen.queries.map(({ at, bank, uuid, answer }) => {
      return { at, about: uuid, text: `${bank} is queried: ${answer}` }
    }),
    ...seen.posts.map(({ at, raw, headers, code }) => {
      const text = `the receiver gets ${headers['x-svc-event']}: ${code ?? 'no response'}`
      return { at, about: raw, text }
    }),
    ...seen.strikes.map(({ at, name, by }) => {
      const text = `FAULT ${name}${by ? ` in ${by}` : ''}: ${faults[name].description}`
      return { at, text, isFault: true }
    }),
  ].toSorted((one, other) => one.at - other.at)

const isAbout = ({ about }: Entry, names: readonly string[]): boolean => {
  const text = JSON.stringify(about)
  return names.some(
    (name) => text.includes(name) || text.includes(JSON.stringify(name).slice(1, -1)),
  )
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
  const names = namesOf(observations, chosen)
  const all = entriesIn(observations).filter((entry) => entry.isFault || isAbout(entry, names))
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
