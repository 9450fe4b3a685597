import * as v from 'valibot'
import { isRange } from '../api/address.ts'
import { BankIdentifier } from '../domain/banks/bank.ts'
import { type Pesewas, pesewas } from '../domain/money.ts'
import { ProviderId } from '../domain/providers/provider.ts'
import { oneOf } from '../domain/text.ts'
import { DAY_SECONDS } from '../domain/time.ts'
import { EventType } from '../domain/webhooks/event-type.ts'

/** Options of the operator command: text, held against the same rules as everything else. */

/** Required options refuse with this where they are absent. */
export const options = <T extends v.ObjectEntries>(entries: T) =>
  v.strictObject(entries, (issue) =>
    issue.expected === 'never' ? 'is not an option of this verb' : 'is required',
  )

type TextSchema = v.GenericSchema<string, unknown>

/** An option with what it is written as, and what it is for, in the command's help. */
export const option = <const S extends TextSchema>(value: string, meaning: string, schema: S) =>
  v.pipe(schema, v.title(value), v.description(meaning))

/** One of a few words. */
export const oneOfWords = <const T extends readonly [string, ...string[]]>(
  meaning: string,
  { options: words }: { options: T },
) => option(words.join('|'), meaning, oneOf(words))

export const money = v.pipe(
  v.string(),
  v.regex(/^(?:0|[1-9][0-9]{0,8})\.[0-9]{2}$/, 'must be an amount like 500.00'),
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
/** `default` removes an override. The schema parses any other text. */
export const orDefault = or('default')

const list = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((part) => part.trim())),
)

export const eventList = v.pipe(list, v.array(EventType), v.minLength(1))
export const addressList = v.pipe(
  list,
  v.array(v.pipe(v.string(), v.check(isRange, 'must be addresses or CIDR ranges'))),
)

/** A setting after an update: what was given, nothing for `none`, else what it was. */
export const updatedOr = <T>(before: T | undefined, given: T | null | undefined): T | undefined =>
  given === undefined ? before : (given ?? undefined)

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Without the members that are undefined. */
export const defined = <T extends object>(members: T): Present<T> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Present<T>

/** How long a secret stays valid after it was replaced: a day, at most a week. */
export const SECRET_OVERLAP_SECONDS = { otherwise: DAY_SECONDS, min: 0, max: 604_800 }

export const graceSeconds = v.optional(
  option(
    'SECONDS',
    'how long the old secret stays valid, 0-604800 (default 86400)',
    wholeNumber(SECRET_OVERLAP_SECONDS),
  ),
)

/**
 * An option that is a secret: the command reads it from standard input, never from its arguments,
 * where other users of the machine and the shell's history would see it.
 */
export const secretOption = <const S extends TextSchema>(meaning: string, schema: S) =>
  v.pipe(schema, v.title('-'), v.description(meaning), v.metadata({ isSecret: true }))

/** 16 to 200 printable ASCII characters without blanks. */
export const secretText = v.pipe(
  v.string(),
  v.regex(/^[!-~]{16,200}$/, 'must be 16 to 200 characters without blanks'),
)

/** How many of a list are shown. */
export const NEWEST = { otherwise: 100, min: 1, max: 1_000 }

export const newest = v.optional(
  option('N', `how many, the newest first; ${NEWEST.otherwise} otherwise`, wholeNumber(NEWEST)),
  String(NEWEST.otherwise),
)

export const providerOption = option('ID', 'the provider’s id, such as demo', ProviderId)
export const bankOption = option('BANK', 'the bank’s identifier, such as GCB', BankIdentifier)
