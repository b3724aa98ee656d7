export { msText } from '@gateway/client/measures';
