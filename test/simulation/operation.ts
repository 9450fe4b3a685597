/** One command of the document client: the name of its class, and its input. */
export type Operation = { command: string; input: Record<string, unknown> }

/** In place of the table's name, which differs from run to run. */
export const TABLE = 'the-table'
