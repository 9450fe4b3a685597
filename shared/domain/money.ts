import * as v from 'valibot'

/** Money inside the service: whole pesewas, 1 GHS = 100 pesewas. Never a float. */
export const Pesewas = v.pipe(v.number(), v.safeInteger(), v.brand('Pesewas'))
export type Pesewas = v.InferOutput<typeof Pesewas>

export const CURRENCY = 'GHS'

export const pesewas = (count: number): Pesewas => v.parse(Pesewas, count)

/** 1.00 GHS and 10000.00 GHS (specification, Limits). */
export const AMOUNT_MIN = pesewas(1_00)
export const AMOUNT_MAX = pesewas(10_000_00)

/** 50000.00 GHS per provider and UTC day (specification, Limits). */
export const DAILY_LIMIT = pesewas(50_000_00)

// Eleven whole digits keep the pesewas far inside the safe integers; longer amounts are over any
// limit anyway, and are refused before a conversion could round them.
const WHOLE_DIGITS_MAX = 11

const EXACT_DECIMAL = /^-?(?:0|[1-9][0-9]*)\.[0-9]{2}$/
const DECIMAL = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/

const missingOr = (message: string) => (issue: { input: unknown }) =>
  issue.input === undefined || issue.input === null ? 'is required' : message

const toPesewas = (text: string): number => {
  const [whole = '', cents = ''] = text.split('.')
  if (whole.replace('-', '').length > WHOLE_DIGITS_MAX) {
    return whole.startsWith('-') ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER
  }
  return Number(`${whole}${cents.padEnd(2, '0')}`)
}

/**
 * The amount of a charge: text with exactly two decimals, from 1.00 to 10000.00 GHS, to pesewas.
 * The API hands over the source text of a JSON number, because 100.5 and 100.50 are one number
 * but not one amount (specification, Create debit request).
 */
export const Amount = v.pipe(
  v.string(missingOr('must be a decimal with exactly 2 decimal places')),
  v.regex(EXACT_DECIMAL, 'must have exactly 2 decimal places'),
  v.check((text) => EXACT_DECIMAL.test(text), 'write 100.00 or "100.00"'),
  // All rules as one pattern; the one above allows a sign so that a later one can name the bound.
  v.metadata({
    pattern: '^(?:[1-9][0-9]{0,3}\\.[0-9]{2}|10000\\.00)$',
    minimum: 1,
    maximum: 10_000,
  }),
  v.transform(toPesewas),
  v.minValue(AMOUNT_MIN, 'must be greater than or equal to 1.00'),
  v.maxValue(AMOUNT_MAX, 'must not exceed 10000.00 GHS'),
  Pesewas,
)

/** Above every amount, so a larger fee settles alike. */
const FEE_MAX = 99_999_999_999_99

const roundHalfEven = (text: string): number => {
  const [whole = '', decimals = ''] = text.split('.')
  if (whole.length > WHOLE_DIGITS_MAX) return FEE_MAX
  const floor = Number(`${whole}${decimals.slice(0, 2).padEnd(2, '0')}`)
  const rest = decimals.slice(2).replace(/0+$/, '')
  if (rest === '5') return floor + (floor % 2)
  return rest > '5' ? floor + 1 : floor
}

/** A bank's fee: a decimal of zero or more, rounded half-even to pesewas. */
export const Fee = v.pipe(
  v.string('must be a decimal'),
  v.regex(DECIMAL, 'must be a decimal of zero or more'),
  v.metadata({ minimum: 0 }),
  v.transform(roundHalfEven),
  Pesewas,
)

/** `12345` pesewas to `"123.45"`. */
export const formatAmount = (amount: Pesewas): string => {
  const digits = String(Math.abs(amount)).padStart(3, '0')
  return `${amount < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** The same as a JSON number that keeps its two decimals, for webhooks and the bank list. */
export const amountNumber = (amount: Pesewas): unknown => JSON.rawJSON(formatAmount(amount))

declare global {
  interface JSON {
    /** JSON text that JSON.stringify puts in as it stands (ECMAScript proposal, Node 22 on). */
    rawJSON(text: string): unknown
  }
}
