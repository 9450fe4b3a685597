import type { Uuid } from '../ids.ts'
import { CURRENCY, type Pesewas, pesewas } from '../money.ts'
import type { StatementField } from './statement-format.ts'

/** A row of a bank's statement (docs/api.md#bank-statements). A file has millions, so no schema parses it. */

export const movementKinds = ['debit', 'refund', 'payout'] as const
export type MovementKind = (typeof movementKinds)[number]

export type StatementRow = {
  /** The line of the file. */
  line: number
  /** By sign, money that left is a refund or a payout. */
  kind: MovementKind | 'outgoing'
  uuid: Uuid | null
  bank_reference: string | null
  /** Another name of the movement, which can be our reference. */
  reference?: string | undefined
  amount: Pesewas
  currency: string
  /** ISO 8601, in UTC. */
  completed_at: string
}

export type StatementTexts = Partial<Record<StatementField | 'reference', string | undefined>>

/** Receives the reason why a row cannot be read. */
type Fail = (reason: string) => void

// Thousands may be separated, by the same character in the whole amount.
const AMOUNT =
  /^([+-]?)(?:(0|[1-9][0-9]{0,9})|([1-9][0-9]{0,2}(?:([, '\u00A0\u202F])[0-9]{3}(?:\4[0-9]{3}){0,2})))\.([0-9]{2})$/
const DECIMAL_COMMA = /,[0-9]{1,2}$/

const amountIn = (text: string, fail: Fail): number | null => {
  if (text === '') return null
  const [, sign, plain, separated = '', , cents = ''] = AMOUNT.exec(text) ?? []
  if (sign === undefined) {
    fail(
      DECIMAL_COMMA.test(text)
        ? 'amount has a decimal comma'
        : 'amount must be like 100.00 or 1,234.00',
    )
    return null
  }
  const amount = Number((plain ?? separated.replaceAll(/[^0-9]/g, '')) + cents)
  return sign === '-' ? -amount : amount
}

const TIME =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/
const DAY_FIRST = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?$/

/** Returns an ISO form of day/month/year, else the text. */
const isoForm = (text: string, fail: Fail): string => {
  const [, day, month = '', year, time = '00:00'] = DAY_FIRST.exec(text) ?? []
  if (day === undefined) {
    if (!TIME.test(text)) fail('completed_at must be like 2026-11-21T10:01:00Z or 21/11/2026')
    return text
  }
  if (Number(month) > 12) fail('completed_at must be day/month/year')
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${time}`
}

/** Parses a time. Without an offset it is UTC, the time of Ghana. Rejects 30 February. */
const instantOf = (text: string): string | undefined => {
  const [day = '', time = '00:00'] = text.split(/[T ]/)
  const zone = /(?:Z|[+-]\d{2}:\d{2})$/.test(time) ? '' : 'Z'
  const start = new Date(`${day}T00:00Z`)
  const at = new Date(`${day}T${time}${zone}`)
  if (Number.isNaN(at.getTime()) || Number.isNaN(start.getTime())) return undefined
  return start.toISOString().startsWith(day) ? at.toISOString() : undefined
}

/** Most rows of a file have the time of the row before. */
let latest: { text: string; instant: string } | undefined

const timeIn = (text: string, fail: Fail): string => {
  if (text === latest?.text) return latest.instant
  let isRefused = false
  const form = isoForm(text, (reason) => {
    isRefused = true
    fail(reason)
  })
  if (isRefused) return ''
  const instant = instantOf(form)
  if (instant === undefined) fail('completed_at must be a time of the calendar')
  else latest = { text, instant }
  return instant ?? ''
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const REFERENCE_MAX = 255

const isKind = (text: string): text is MovementKind | '' =>
  text === '' || movementKinds.some((kind) => kind === text)

/** Parses the texts of a row. @returns the row, or why it cannot be read, without its values */
export const parseStatementRow = (
  line: number,
  texts: StatementTexts,
): StatementRow | { line: number; reason: string } => {
  const reasons: string[] = []
  const fail: Fail = (reason) => {
    if (!reasons.includes(reason)) reasons.push(reason)
  }
  const uuid = (texts.uuid ?? '').toLowerCase()
  if (uuid !== '' && !UUID.test(uuid)) fail('uuid is malformed')
  const reference = (texts.bank_reference ?? '').trim()
  if (reference.length > REFERENCE_MAX) fail('bank_reference is malformed')
  const amount = amountIn(texts.amount ?? '', fail)
  const outgoing = amountIn(texts.outgoing ?? '', fail)
  const currency = (texts.currency || CURRENCY).toUpperCase()
  if (!/^[A-Z]{3}$/.test(currency)) fail('currency must be like GHS')
  const completed_at = timeIn(texts.completed_at ?? '', fail)
  const kind = (texts.kind ?? '').toLowerCase()
  if (!isKind(kind)) fail(`kind must be one of ${movementKinds.join(', ')}`)
  if (reasons.length === 0) {
    if (uuid === '' && reference === '') fail('a uuid or a bank_reference is required')
    const none = amount === null && outgoing === null
    if (none || (amount && outgoing)) fail('one amount is required')
  }
  if (reasons.length > 0) return { line, reason: reasons.join('; ') }
  const left = outgoing ? -Math.abs(outgoing) : (amount ?? 0)
  const bySign = left < 0 ? 'outgoing' : 'debit'
  return {
    line,
    kind: kind === '' ? bySign : (kind as MovementKind),
    uuid: (uuid as Uuid) || null,
    bank_reference: reference || null,
    reference: texts.reference,
    amount: pesewas(Math.abs(left)),
    currency,
    completed_at,
  }
}
