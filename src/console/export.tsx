export { ExportLinks } from './ui/table.js';
