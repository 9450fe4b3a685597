import * as v from 'valibot'
import { isRange } from '../api/address.ts'
import { BankIdentifier } from '../domain/banks/bank.ts'
import { EXACT_AMOUNT, type Pesewas, pesewas } from '../domain/money.ts'
import { BulkId } from '../domain/operator/bulk.ts'
import { cursorAt } from '../domain/page.ts'
import { hasPhoneNumber, PhoneNumber } from '../domain/phone.ts'
import { ProviderId } from '../domain/providers/provider.ts'
import { oneOf, text } from '../domain/text.ts'
import { DAY_SECONDS, Day } from '../domain/time.ts'
import { EventType } from '../domain/webhooks/event-type.ts'

/** Returns a strict schema of options with our messages for unknown and missing ones. */
export const options = <T extends v.ObjectEntries>(entries: T) =>
  v.strictObject(entries, (issue) =>
    issue.expected === 'never' ? 'is not an option of this verb' : 'is required',
  )

/** The options that a call gave, for a rule about several of them, which names them in its message. */
export type Given<N extends string> = { [name in N]?: unknown }

/** Returns the number of these options that a call gave. */
export const countOf = (...values: unknown[]): number =>
  values.filter((value) => value !== undefined).length

type TextSchema = v.GenericSchema<string, unknown>

/** Adds the help text of an option: its placeholder and its meaning. */
export const option = <const S extends TextSchema>(value: string, meaning: string, schema: S) =>
  v.pipe(schema, v.title(value), v.description(meaning))

/** Returns an option that a call may omit. */
export const optional = <const S extends TextSchema>(value: string, meaning: string, schema: S) =>
  v.optional(option(value, meaning, schema))

export const oneOfWords = <const T extends readonly [string, ...string[]]>(
  meaning: string,
  { options: words }: { options: T },
) => option(words.join('|'), meaning, oneOf(words))

export const optionalWord = <const T extends readonly [string, ...string[]]>(
  meaning: string,
  words: { options: T },
) => v.optional(oneOfWords(meaning, words))

export const money = v.pipe(
  v.string(),
  v.regex(EXACT_AMOUNT, 'must be an amount like 500.00'),
  v.transform((text): Pesewas => pesewas(Number(text.replace('.', '')))),
)

export const wholeNumber = ({ min, max }: { min: number; max: number }) => {
  const message = `must be a whole number from ${min} to ${max}`
  return v.pipe(
    v.string(),
    v.regex(/^[0-9]{1,7}$/, message),
    v.transform(Number),
    v.minValue(min, message),
    v.maxValue(max, message),
  )
}

const or = <const W extends string>(word: W) => {
  const cleared = v.pipe(
    v.literal(word),
    v.transform(() => null),
  )
  return <S extends v.GenericSchema<string, unknown>>(schema: S) =>
    v.lazy((input): S | typeof cleared => (input === word ? cleared : schema))
}

/** `none` removes a setting. The schema parses any other text. */
export const orNothing = or('none')

/** Returns the option of a setting that `none` removes. */
export const clearable = <const S extends TextSchema>(value: string, meaning: string, schema: S) =>
  optional(`${value}|none`, meaning, orNothing(schema))

/** `default` removes an override. The schema parses any other text. */
export const orDefault = or('default')

const list = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((part) => part.trim())),
)

export const eventList = v.pipe(
  list,
  v.array(EventType),
  v.minLength(1),
  v.transform((types) => [...new Set(types)]),
)
export const addressList = v.pipe(
  list,
  v.array(v.pipe(v.string(), v.check(isRange, 'must be addresses or CIDR ranges'))),
)

/** Returns a setting after an update: the option, undefined for `none`, else the previous value. */
export const updatedOr = <T>(previous: T | undefined, option: T | null | undefined) =>
  option === undefined ? previous : (option ?? undefined)

/** The overlap of a replaced secret: a day by default, at most a week. */
export const SECRET_OVERLAP_SECONDS = { default: DAY_SECONDS, min: 0, max: 604_800 }

export const graceSeconds = optional(
  'SECONDS',
  'overlap in which the old secret stays valid, 0-604800 (default 86400)',
  wholeNumber(SECRET_OVERLAP_SECONDS),
)

/** Returns an option that is read from standard input: other users can see arguments. */
export const secret = <const S extends TextSchema>(meaning: string, schema: S) =>
  v.pipe(schema, v.title('-'), v.description(meaning), v.metadata({ isSecret: true }))

/**
 * Marks a text about a customer: records have its keyed hash. A verb with such an option also has
 * `phone`, by which `change list` finds its records.
 */
export const personal = <const S extends TextSchema>(value: string, meaning: string, schema: S) =>
  v.pipe(option(value, meaning, schema), v.metadata({ isPersonal: true }))

/** Marks an optional option whose name a caller may omit. */
export const positional = <const S extends v.GenericSchema>(schema: S) =>
  v.optional(v.pipe(schema, v.metadata({ isPositional: true })))

/** The options of a part of a file that the command uploads. */
export const part = options({
  bulk: optional('ID', 'the upload, from the reply to its first part', BulkId),
  n: v.optional(
    option('N', 'number of the part, from 0', wholeNumber({ min: 0, max: 999_999 })),
    '0',
  ),
  // An item of the table has at most 400 KB.
  rows: option(
    'JSON',
    'rows of the part',
    v.pipe(v.string(), v.maxBytes(350_000, 'must be at most 350000 bytes')),
  ),
})

/** Parses 16 to 200 printable ASCII characters without blanks. */
export const secretText = v.pipe(
  v.string(),
  v.regex(/^[!-~]{16,200}$/, 'must be 16 to 200 characters without blanks'),
)

export const day = (meaning: string) => option('YYYY-MM-DD', meaning, Day)

/** Maximum number of results. */
const LIMIT = { default: 100, min: 1, max: 1_000 }

export const limit = v.optional(
  option('N', `maximum number of results (default ${LIMIT.default})`, wholeNumber(LIMIT)),
  String(LIMIT.default),
)

export const cursor = (meaning: string) =>
  optional('CURSOR', meaning, cursorAt(/^[0-9][0-9A-Za-z_#:.-]{9,67}$/))

/** The options of a list in the order of time. */
export const page = {
  from: v.optional(day('first UTC day')),
  to: v.optional(day('last UTC day')),
  cursor: cursor('continues the list of an earlier call'),
  limit,
}

export const provider = option('ID', 'provider id, such as demo', ProviderId)
export const phone = personal('NUMBER', 'phone number, such as +233241234567', PhoneNumber)
export const bank = option('BANK', 'bank identifier, such as GCB', BankIdentifier)
export const owner = { provider: v.optional(provider), bank: v.optional(bank) }
export const hasOneOwner = ({ provider, bank }: Given<keyof typeof owner>): boolean =>
  countOf(provider, bank) === 1
export const ONE_OWNER = 'either --provider or --bank is required'
/** Records keep the text beyond an erasure of its customer. */
export const reason = (meaning: string) =>
  option(
    'TEXT',
    meaning,
    v.pipe(
      text({ max: 200 }),
      v.check((value) => !hasPhoneNumber(value), 'must not contain a phone number'),
    ),
  )
