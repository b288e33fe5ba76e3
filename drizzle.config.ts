import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './shared/stores/schema/tables.ts',
  out: './shared/stores/schema/migrations',
})
