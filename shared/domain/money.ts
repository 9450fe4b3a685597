import * as v from 'valibot'

/** An amount in whole pesewas; 1 GHS = 100 pesewas. */
export const Pesewas = v.pipe(v.number(), v.safeInteger(), v.brand('Pesewas'))
export type Pesewas = v.InferOutput<typeof Pesewas>

export const CURRENCY = 'GHS'

export const pesewas = (count: number): Pesewas => v.parse(Pesewas, count)

/** 1.00 and 10000.00 GHS (docs/api.md#amounts). */
export const AMOUNT_MIN = pesewas(1_00)
export const AMOUNT_MAX = pesewas(10_000_00)

/** 50000.00 GHS per provider and UTC day (docs/api.md#daily-limit). */
export const DAILY_LIMIT = pesewas(50_000_00)

// Pesewas of eleven whole digits are safe integers. Longer amounts exceed every limit and must be
// rejected before a conversion rounds them.
const WHOLE_DIGITS_MAX = 11

/** Matches an amount that an operator enters, with enough digits for the sum of any batch. */
export const EXACT_AMOUNT = new RegExp(`^(?:0|[1-9][0-9]{0,${WHOLE_DIGITS_MAX - 1}})\\.[0-9]{2}$`)

const EXACT_DECIMAL = /^-?(?:0|[1-9][0-9]*)\.[0-9]{2}$/
// Some JSON writers give zero a sign.
const DECIMAL = /^(?:-0(?:\.0+)?|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)$/

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
 * Parses the amount of a charge: text with exactly two decimals, from 1.00 to 10000.00 GHS. The API
 * passes the source text of a JSON number, because 100.5 is not a valid amount (docs/api.md#amounts).
 */
export const Amount = v.pipe(
  v.string(missingOr('must be a decimal with exactly 2 decimal places')),
  v.regex(EXACT_DECIMAL, 'must have exactly 2 decimal places'),
  v.check((text) => EXACT_DECIMAL.test(text), 'write 100.00 or "100.00"'),
  // All rules for the API description; EXACT_DECIMAL accepts a sign, so that the minimum rejects it.
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

/** Replaces a larger fee; settlement caps both at the amount (docs/api.md#bank-reports). */
const FEE_MAX = 99_999_999_999_99

const roundHalfEven = (text: string): number => {
  const [whole = '', decimals = ''] = text.replace('-', '').split('.')
  if (whole.length > WHOLE_DIGITS_MAX) return FEE_MAX
  const floor = Number(`${whole}${decimals.slice(0, 2).padEnd(2, '0')}`)
  const rest = decimals.slice(2)
  const isUp = /^50*$/.test(rest) ? floor % 2 === 1 : rest > '5'
  return Math.min(floor + Number(isUp), FEE_MAX)
}

/** Parses a bank's fee: a decimal of zero or more, rounded half-even to pesewas. */
export const Fee = v.pipe(
  v.string('must be a decimal'),
  v.regex(DECIMAL, 'must be a decimal of zero or more'),
  v.metadata({ minimum: 0 }),
  v.transform(roundHalfEven),
  Pesewas,
)

/** Formats `12345` pesewas as `123.45`. A sum of many amounts is a bigint. */
export const formatAmount = (amount: Pesewas | bigint): string => {
  const digits = String(amount < 0 ? -amount : amount).padStart(3, '0')
  return `${amount < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Returns a JSON number with two decimals, for webhooks and the bank list. */
export const amountNumber = (amount: Pesewas): unknown => JSON.rawJSON(formatAmount(amount))

declare global {
  interface JSON {
    /** Returns JSON text that JSON.stringify copies (ECMAScript proposal, since Node 22). */
    rawJSON(text: string): unknown
  }
}
