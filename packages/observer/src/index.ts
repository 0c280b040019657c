/** Folder of the built page, for the server that delivers it. */
export const pageDirectory = new URL('./page/', import.meta.url)
