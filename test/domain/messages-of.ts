import * as v from 'valibot'

/** Returns the messages of a value that a schema refuses. */
export const messagesOf = (schema: v.GenericSchema, input: unknown): string[] =>
  v.safeParse(schema, input).issues?.map(({ message }) => message) ?? []
