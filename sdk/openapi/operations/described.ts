import {
  type GenericSchema,
  type InferInput,
  type ObjectEntries,
  pipe,
  regex,
  string,
} from 'valibot'
import type { Success } from '../../../shared/api/envelope.ts'
import type { OperationName, operations } from '../../../shared/api/operations.ts'
import { Reference } from '../../../shared/domain/ids.ts'
import { invalid, type Refusal } from '../../../shared/domain/refusal.ts'
import { Phone } from '../../../shared/views/fields.ts'
import { exampleCursors, pending, phone } from '../example-debit.ts'

type Parameter = {
  description?: string
  example: unknown
  deprecated?: true
  /** Of a parameter in the path; the operation has those of the query. */
  schema?: GenericSchema
}

/** The texts, the examples and the reply of an operation. */
export type Description = {
  tag: 'Debit requests' | 'Banks' | 'Bank reports' | 'Events' | 'Settlements'
  summary: string
  description: string
  parameters?: Record<string, Parameter>
  /** The query of the sample event and own members of its body; else path and body are the examples. */
  sample?: { query?: Record<string, string>; body?: object }
  refusals?: readonly Refusal[]
  data: GenericSchema
  example: Success
  /** Members next to `data`. */
  topLevel?: ObjectEntries
  /** Members of `meta` that describe the page of a list. */
  page?: ObjectEntries
  /** Own headers of the reply and their descriptions. */
  headers?: Record<string, string>
  /** The alternatives to JSON: an example of each, by its media type. */
  files?: Record<string, string>
  /** `data` of the 303 that replaces a reply over 4 MB. */
  redirect?: GenericSchema
}

type Wrapped<O, Fields> = O extends { wrapper: infer Name extends string }
  ? Record<Name, Fields>
  : never

/** Requests by name, of an operation with a body. */
type Bodies<O> = O extends { body: infer Body extends GenericSchema }
  ? {
      bodies: Record<
        string,
        { summary: string; value: InferInput<Body> | Wrapped<O, InferInput<Body>> }
      >
    }
  : { bodies?: never }

export type Descriptions = {
  [Name in OperationName]: Description & Bodies<(typeof operations)[Name]>
}

export const referenceParameter = {
  description: 'Reference from the charge reply',
  example: pending.facts.reference,
  schema: Reference,
}
/** A bank may write a uuid in upper case. */
const UUID =
  /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$/
export const uuidParameter = { example: pending.facts.uuid, schema: pipe(string(), regex(UUID)) }
export const phoneParameter = { example: phone, schema: Phone }

/** Returns the parameters of a list's pages. */
export const pageParameters = (items: string, list: keyof typeof exampleCursors) => ({
  per_page: { description: `${items} per page (default 20)`, example: 20 },
  cursor: { example: exampleCursors[list] },
})

export const invalidCursor = invalid({ cursor: ['must be a cursor of this list'] })
export const invalidPage = invalid({ per_page: ['must be a whole number from 1 to 100'] })

export const lastPage = { next_cursor: null, has_more: false }
export const oneOfOne = { current_page: 1, total_pages: 1 }
